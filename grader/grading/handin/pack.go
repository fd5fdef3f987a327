// Package handin puts what a student hands in into one zip file. It never refuses:
// the zip is written first, and anything that looks wrong is reported afterwards.
package handin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/cache"
	"flashlab/internal/zipfile"
)

// Zip is what was packed.
type Zip struct {
	Path     string
	Size     int
	Files    map[string][]byte // by their names in the tree: those that a student may change
	Results  bool              // Results.md is in it
	Board    string            // the name that its leaderboard.txt asks for; "" without one
	Requests int               // in its regrade.toml
	Receipt  Receipt
	Trouble  []string // files that could not be read
}

// About is flashlab.json in the zip: what a person who opens it should know.
type About struct {
	Release string   `json:"release"`
	Receipt Receipt  `json:"receipt"`
	Files   []string `json:"files"`
}

// Write packs the permitted files of the tasks, and Results.md. Equal files give
// an equal zip: it holds no times.
func Write(root, out string, tasks []*rubric.Task) (Zip, error) {
	z := Zip{Path: out}
	z.Files, z.Trouble = Files(root, tasks)
	z.Receipt = Sum(z.Files)
	all := map[string][]byte{}
	for name, data := range z.Files {
		all[name] = data
	}
	if data, err := os.ReadFile(filepath.Join(root, "Results.md")); err == nil {
		all["Results.md"], z.Results = data, true
	}
	if data, err := os.ReadFile(filepath.Join(root, LeaderboardFile)); err == nil {
		all[LeaderboardFile], z.Board = data, ChosenName(data)
		if err := CheckName(z.Board); err != nil {
			z.Trouble = append(z.Trouble, fmt.Sprintf("%s: the class's leaderboard cannot show this name: %v", LeaderboardFile, err))
		}
	}
	if data, err := os.ReadFile(filepath.Join(root, RegradeFile)); err == nil {
		asked, err := Requests(data)
		if err != nil {
			z.Trouble = append(z.Trouble, fmt.Sprintf("%s asks for nothing: %v", RegradeFile, err))
		}
		all[RegradeFile], z.Requests = data, len(asked)
	}
	about := About{Release: edition.Name(root), Receipt: z.Receipt, Files: names(z.Files)}
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return z, err
	}
	all["flashlab.json"] = append(text, '\n')
	// The oldest time that a zip can hold: the files' own would make equal zips differ.
	data, err := zipfile.Files("", all, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	if err != nil {
		return z, err
	}
	z.Size = len(data)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return z, err
	}
	return z, cache.WriteFile(out, data, 0o644)
}

// Files are those that a student may change, and what is wrong with the others.
func Files(root string, tasks []*rubric.Task) (files map[string][]byte, trouble []string) {
	files = map[string][]byte{}
	for _, name := range Names(tasks) {
		data, err := os.ReadFile(filepath.Join(root, name)) // a link of one's own is followed
		switch {
		case errors.Is(err, fs.ErrNotExist):
			trouble = append(trouble, name+" is missing, so it is not in the zip")
		case err != nil:
			trouble = append(trouble, fmt.Sprintf("%s cannot be read, so it is not in the zip: %v", name, err))
		default:
			files[name] = data
		}
	}
	return files, trouble
}

func names(files map[string][]byte) []string {
	var list []string
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
