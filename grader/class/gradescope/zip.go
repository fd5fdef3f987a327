// Package gradescope makes the autograder.zip that Gradescope wants: the course's tree with its
// hidden cases and without its solutions, the class's tables, and the scripts that Gradescope starts.
package gradescope

import (
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"flashlab/grader/release"
	"flashlab/internal/zipfile"
)

//go:embed setup.sh run_autograder environment
var scripts embed.FS

// tables next to course.toml that go into the zip.
var tables = []string{"roster.csv", "extensions.csv", "overrides.csv", "manual.csv", "regrades.csv"}

// Input is what the zip is made from.
type Input struct {
	Tree   *release.Tree // of release.Grading
	Course string        // path of course.toml; "" for the defaults
	Flags  string        // of `grader gradescope`
}

var seedLine = regexp.MustCompile(`(?m)^\s*seed\s*=`)

// Zip is the autograder.zip. Without a class seed in course.toml it draws one, so that grading a
// submission again gives the same result.
func Zip(in Input) ([]byte, error) {
	files := map[string][]byte{"flags": []byte(in.Flags + "\n")}
	for name, data := range in.Tree.Contents {
		files["flashlab/"+name] = data
	}
	for _, name := range []string{"setup.sh", "run_autograder", "environment"} {
		data, err := scripts.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	var toml []byte
	if in.Course != "" {
		var err error
		if toml, err = os.ReadFile(in.Course); err != nil {
			return nil, err
		}
		for _, name := range tables {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(in.Course), name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			files[name] = data
		}
	}
	if !seedLine.Match(toml) { // keys of the file come before its tables
		toml = append(fmt.Appendf(nil, "seed = %q\n", rand.Text()), toml...)
	}
	files["course.toml"] = toml
	return zipfile.Files("", files, in.Tree.Date.UTC().Truncate(time.Second), func(name string) bool {
		return name == "setup.sh" || name == "run_autograder" || in.Tree.Scripts[trim(name)]
	})
}

func trim(name string) string {
	const tree = "flashlab/"
	if len(name) > len(tree) && name[:len(tree)] == tree {
		return name[len(tree):]
	}
	return ""
}
