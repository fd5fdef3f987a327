// Package adversary holds submissions that try to cheat, and honest ones that look
// odd, with the verdict that each must get. They are for tests and for made-up
// classes; a release leaves them out.
package trial

import (
	"bytes"
	"flashlab/grader/tasks/registry"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
)

// Verdict is what a submission must come to.
type Fate string

// The verdicts.
const (
	Refused Fate = "refused" // nothing is run
	Zero    Fate = "zero"    // it runs, and gets nothing
	Held    Fate = "held"    // it awaits a person
	NoGain  Fate = "no gain" // it gets what the same would get without the trick
	Full    Fate = "full"    // of an honest one: nothing is docked, nothing held
)

// Submission is one of them: a folder with a submission.toml and the files that
// it changes. Those that it does not bring are right ones: of the early version
// in the list of versions, which stays as it is while the solution gets faster,
// else the solution's own.
type Submission struct {
	Name    string `toml:"-"`
	About   string // what it tries, or what is odd about it
	Task    registry.Name
	Verdict Fate
	Defence string            // what stops it
	Only    string            // the check, or the case of it, that it is graded on
	GPU     bool              // it makes sense on a GPU only
	Edits   []Edit            `toml:"edit"`
	Links   map[string]string // files that are symbolic links
	Lose    []string          // of NoGain: parts that lose points, "softmax correctness"
	Says    []string          // parts of the feedback
	Never   []string          // what the feedback must not hold

	dir string
}

// versions of the solutions whose lines the edits quote.
var versions = map[string]string{"task2_unfused": "2_shared", "task4_flash": "2_registers"}

// Kinds are the folders of testdata: the exploits and the honest.
const (
	Exploits = "exploits"
	Honest   = "honest"
)

// Load reads all submissions of a kind, by name.
func Load(root, kind string) ([]Submission, error) {
	files, err := filepath.Glob(filepath.Join(root, "grader", "trial", "testdata", kind, "*", "submission.toml"))
	if err != nil {
		return nil, err
	}
	var all []Submission
	for _, f := range files {
		s, err := load(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func load(file string) (Submission, error) {
	dir := filepath.Dir(file)
	s := Submission{Name: filepath.Base(dir), dir: dir}
	meta, err := toml.DecodeFile(file, &s)
	if err != nil {
		return s, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return s, fmt.Errorf("unknown key %q", unknown[0].String())
	}
	if s.About == "" || s.Task == "" {
		return s, fmt.Errorf("about and task must be there")
	}
	if !slices.Contains([]Fate{Refused, Zero, Held, NoGain, Full}, s.Verdict) {
		return s, fmt.Errorf("the verdict %q is none", s.Verdict)
	}
	if s.Verdict != Full && s.Defence == "" {
		return s, fmt.Errorf("what stops it? defence = …")
	}
	return s, nil
}

// Write lays the submission out as a student would hand it in: a folder for each
// of the task's folders in dir.
func (s Submission) Write(root string, t *rubric.Task, dir string) error {
	var files []gate.File
	for _, one := range t.All() {
		solution := filepath.Join(root, one.Dir, "solution")
		for _, name := range one.Files {
			data, err := os.ReadFile(filepath.Join(s.dir, name))
			if version := versions[one.Dir]; os.IsNotExist(err) && version != "" {
				data, err = os.ReadFile(filepath.Join(solution, "_versions", version, name))
			}
			if os.IsNotExist(err) {
				data, err = os.ReadFile(filepath.Join(solution, name))
			}
			if err != nil {
				return err
			}
			files = append(files, gate.File{Task: one.Dir, Name: name, Data: data})
		}
	}
	if err := s.edit(t, files); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Task, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if to := s.Links[f.Name]; to != "" {
			if err := os.Symlink(to, path); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s Submission) edit(t *rubric.Task, files []gate.File) error {
	for _, e := range s.Edits {
		i := slices.IndexFunc(files, func(f gate.File) bool { return f.Task == t.Dir && f.Name == e.File })
		if i < 0 {
			return fmt.Errorf("%s: the task has no file %s", s.Name, e.File)
		}
		if n := bytes.Count(files[i].Data, []byte(e.Find)); n != 1 {
			return fmt.Errorf("%s: %q occurs %d times in %s, want once", s.Name, e.Find, n, e.File)
		}
		files[i].Data = bytes.Replace(files[i].Data, []byte(e.Find), []byte(e.Replace), 1)
	}
	return nil
}
