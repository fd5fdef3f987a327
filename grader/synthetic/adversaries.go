package synthetic

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"flashlab/grader/adversary"
	"flashlab/grader/rubric"
)

// exploit tries to cheat, in the n-th way.
func exploit(c *class, files map[string][]byte, t *rubric.Task, n int) (string, Verdict, error) {
	return adversarial(c, files, t, n, adversary.Exploits)
}

// odd is honest work that looks strange.
func odd(c *class, files map[string][]byte, t *rubric.Task, n int) (string, Verdict, error) {
	return adversarial(c, files, t, n, adversary.Honest)
}

// expected is what a whole task comes to where a part of it is attacked.
var expected = map[adversary.Verdict]Verdict{
	adversary.Refused: Refused, adversary.Zero: Lost, adversary.Held: Held, adversary.NoGain: Any, adversary.Full: Full,
}

func adversarial(c *class, files map[string][]byte, t *rubric.Task, n int, kind string) (string, Verdict, error) {
	all, err := adversary.Load(c.root, kind)
	if err != nil {
		return "", "", err
	}
	var usable []adversary.Submission
	for _, s := range all {
		// Links would need a packing of their own, and others a GPU.
		if s.Task == t.Number && !s.GPU && len(s.Links) == 0 {
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
func written(c *class, s adversary.Submission, files map[string][]byte, t *rubric.Task) error {
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
