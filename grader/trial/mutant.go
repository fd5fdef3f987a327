package trial

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// Mutant is a solution made wrong on purpose, to show that its mistake costs
// points.
type Mutant struct {
	Name    string `toml:"-"`
	About   string
	Version string // of the solution, that is edited: "2_registers"; the solution itself without it
	Edits   []Edit `toml:"edit"`
	Expect  Expect
}

// Edit replaces a text that occurs exactly once in a file of the solution. The
// file of a task that is only used is named with its folder,
// "task4_flash/kernels.cu".
type Edit struct{ File, Find, Replace string }

// Expect says what a mutant must lose, and what the feedback must say.
type Expect struct {
	Lose []string // "softmax correctness"
	Keep []string
	Says []string // parts of the feedback
}

var mutantName = regexp.MustCompile(`^[a-z0-9_]+$`)

func mutantsDir(root string, t *rubric.Task) string {
	return filepath.Join(root, "grader", "trial", "testdata", "mutants", t.Dir)
}

// timing is the folder of mutants that are right, and cheat the clock.
const timing = "timing"

// Mutants lists the names of a task's mutants.
func Mutants(root string, t *rubric.Task) []string { return mutantsIn(mutantsDir(root, t)) }

// TimingMutants lists those that only timing finds: their outputs, when graded, are
// right.
func TimingMutants(root string, t *rubric.Task) []string { return mutantsIn(timingDir(root, t)) }

func timingDir(root string, t *rubric.Task) string {
	return filepath.Join(filepath.Dir(mutantsDir(root, t)), timing, t.Dir)
}

func mutantsIn(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.toml"))
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".toml"))
	}
	return names
}

// LoadMutant reads a mutant.
func LoadMutant(root string, t *rubric.Task, name string) (*Mutant, error) {
	return readMutant(mutantsDir(root, t), t, name)
}

// LoadTimingMutant reads one that cheats the clock.
func LoadTimingMutant(root string, t *rubric.Task, name string) (*Mutant, error) {
	return readMutant(timingDir(root, t), t, name)
}

func readMutant(dir string, t *rubric.Task, name string) (*Mutant, error) {
	file := filepath.Join(dir, name+".toml")
	if _, err := os.Stat(file); err != nil || !mutantName.MatchString(name) {
		return nil, fmt.Errorf("task %s has no mutant %q; it has %s", t.Name, name, strings.Join(mutantsIn(dir), ", "))
	}
	m := &Mutant{Name: name}
	meta, err := toml.DecodeFile(file, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown key %q", file, unknown[0].String())
	}
	if m.About == "" || len(m.Edits) == 0 || len(m.Expect.Lose) == 0 {
		return nil, fmt.Errorf("%s: about, [[edit]] and expect.lose must be there", file)
	}
	return m, nil
}

// Apply edits the files of a task's solution, and of the tasks that it uses.
func (m *Mutant) Apply(t *rubric.Task, files []gate.File) ([]gate.File, error) {
	edited := slices.Clone(files)
	for _, e := range m.Edits {
		file, found := e.File, false
		if !strings.Contains(file, "/") {
			file = t.Dir + "/" + file
		}
		for i, f := range edited {
			if f.Task+"/"+f.Name != file {
				continue
			}
			found = true
			if n := bytes.Count(f.Data, []byte(e.Find)); n != 1 {
				return nil, fmt.Errorf("mutant %s: %q occurs %d times in the solution's %s, want once", m.Name, e.Find, n, e.File)
			}
			edited[i].Data = bytes.Replace(f.Data, []byte(e.Find), []byte(e.Replace), 1)
		}
		if !found {
			return nil, fmt.Errorf("mutant %s: the solution has no file %s", m.Name, e.File)
		}
	}
	return edited, nil
}

// MutantOf is the reference solution with a known mistake.
func MutantOf(root string, t *rubric.Task, m *Mutant) run.Subject {
	s := run.Solution(root, t)
	s.Name, s.Version, s.Mutant, s.Edit = "the reference solution, made wrong: "+m.About, m.Version, m.Name, m.Apply
	return s
}
