package synthetic

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/trial"
)

// exploit tries to cheat, in the n-th way.
func exploit(c *class, files map[string][]byte, t *rubric.Task, n int) (string, Fate, error) {
	return adversarial(c, files, t, n, trial.Exploits)
}

// odd is honest work that looks strange.
func odd(c *class, files map[string][]byte, t *rubric.Task, n int) (string, Fate, error) {
	return adversarial(c, files, t, n, trial.Honest)
}

// expected is what a whole task comes to where a part of it is attacked.
var expected = map[trial.Fate]Fate{
	trial.Refused: Refused, trial.Zero: Lost, trial.Held: Held, trial.NoGain: Any, trial.Full: Full,
}

func adversarial(c *class, files map[string][]byte, t *rubric.Task, n int, kind string) (string, Fate, error) {
	all, err := trial.Load(c.root, kind)
	if err != nil {
		return "", "", err
	}
	var usable []trial.Submission
	for _, s := range all {
		// Links would need a packing of their own, and others a GPU.
		if s.Task == t.Name && !s.GPU && len(s.Links) == 0 {
			usable = append(usable, s)
		}
	}
	for i := range usable {
		one := usable[(n*7+i)%len(usable)] // neighbours by name are alike
		if err := written(c, one, files, t); err == nil {
			return strings.TrimSuffix(kind, "s") + " " + one.Name, expected[one.Verdict], nil
		}
	}
	return "", "", nil
}

// written puts a submission's files in place. One whose edits do not fit the solution any more is
// passed over: the tests of package adversary see to these.
func written(c *class, s trial.Submission, files map[string][]byte, t *rubric.Task) error {
	dir, err := os.MkdirTemp("", "submission-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := s.Write(c.root, t, dir); err != nil {
		return err
	}
	for _, f := range t.Files {
		data, err := os.ReadFile(filepath.Join(dir, t.Dir, f))
		if os.IsNotExist(err) {
			delete(files, path.Join(t.Dir, f))
			continue
		}
		if err != nil {
			return err
		}
		files[path.Join(t.Dir, f)] = data
	}
	return nil
}
