// Package trial holds what the grader is tested with: specimens, which are submissions with the
// fate that each must meet, and the solutions that they are made from. They are for tests,
// for made-up classes and for instructors; a release leaves them out.
package trial

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/glob"
)

// The kinds of specimens, each a folder with a folder for each task.
const (
	Mutants  = "mutants"  // solutions made wrong on purpose: the mistake must cost points
	Timing   = "timing"   // their outputs, when graded, are right: they cheat the clock
	Exploits = "exploits" // submissions that try to cheat
	Honest   = "honest"   // honest ones that only look odd
)

// Fate is what a specimen must come to.
type Fate string

// The fates.
const (
	Refused Fate = "refused" // nothing is run
	Zero    Fate = "zero"    // it runs, and gets nothing
	Held    Fate = "held"    // it awaits a person
	NoGain  Fate = "no gain" // it gets what the same would get without the trick
	Loses   Fate = "loses"   // it runs, and loses the points that it must
	Caught  Fate = "caught"  // its timed run is found out
	Full    Fate = "full"    // nothing is docked, nothing held
)

// canMeet are the fates that a kind can meet.
var canMeet = map[string][]Fate{Mutants: {Loses}, Timing: {Caught, NoGain}, Exploits: {Refused, Zero, Held, NoGain}, Honest: {Full}}

// Specimen is one of them: a file specimens/KIND/TASK/NAME.toml.
type Specimen struct {
	Name string       `toml:"-"`
	Task *rubric.Task `toml:"-"`

	About    string            // the mistake, the trick, or what is odd
	Base     string            // what it is made from, by its name in _bases/TASK
	Edits    []Edit            `toml:"edit"`
	Files    map[string]string // whole files, in place of the base's
	Links    map[string]string // files that are symbolic links, when it is handed in
	Fate     Fate
	Lose     []string // parts that must lose points, "softmax correctness"
	Keep     []string // parts that must not
	Says     []string // parts of the feedback
	Never    []string // what the feedback must not hold
	Points   *float64 // that it gets, to the hundredth; any where it does not say
	Patience int      // seconds for a case, where the few that strangers get are too few on a busy machine
	Only     string   // the check, or the case of it, that it is graded on
	GPU      bool     // it makes sense on a GPU only
	Defence  string   // what stops an exploit
}

// Edit replaces a text that occurs exactly once in a file of the base. The file of a task that is
// only used is named with its folder, "task4_flash/kernels.cu".
type Edit struct{ File, Find, Replace string }

// Load reads the specimens of a kind that are of these tasks, task by task and by name.
func Load(root, kind string, tasks ...*rubric.Task) (all []Specimen, err error) {
	for _, t := range tasks {
		files, err := glob.In(filepath.Join(root, "grader", "trial", "specimens", kind, t.Dir), "*.toml")
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			s := Specimen{Name: strings.TrimSuffix(filepath.Base(file), ".toml"), Task: t}
			if err := s.read(root, kind, file); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// Find reads one of a task's specimens.
func Find(root, kind string, t *rubric.Task, name string) (s Specimen, err error) {
	all, err := Load(root, kind, t)
	if err != nil {
		return s, err
	}
	var names []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return s, fmt.Errorf("task %s has no %s %q; it has %s", t.Name, strings.TrimSuffix(kind, "s"), name, strings.Join(names, ", "))
}

func (s *Specimen) read(root, kind, file string) error {
	meta, err := toml.DecodeFile(file, s)
	if err != nil {
		return err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("unknown key %q", unknown[0].String())
	}
	for _, must := range []struct {
		key, why string
		there    bool
	}{
		{"about", "what is it?", s.About != ""},
		{"fate", fmt.Sprintf("%q is none of %q, which %s can meet", s.Fate, canMeet[kind], kind), slices.Contains(canMeet[kind], s.Fate)},
		{"edit", "nothing is changed: [[edit]], [files] or [links]", len(s.Edits)+len(s.Files)+len(s.Links) > 0},
		{"lose", "which points?", s.Fate != Loses || len(s.Lose) > 0},
		{"says", "what of the timed run?", s.Fate != Caught || len(s.Says) > 0},
		{"defence", "what stops it?", kind != Exploits || s.Defence != ""},
	} {
		if !must.there {
			return fmt.Errorf("%s: %s", must.key, must.why)
		}
	}
	for key, parts := range map[string][]string{"lose": s.Lose, "keep": s.Keep} {
		for _, p := range parts {
			id, which, _ := strings.Cut(p, " ")
			if !slices.ContainsFunc(s.Task.Checks, func(c rubric.Check) bool { return c.ID == id }) ||
				!slices.Contains([]string{"correctness", "safety", "traffic", verdict.BankPart, "speed"}, which) {
				return fmt.Errorf("%s: the task has no part %q", key, p)
			}
		}
	}
	_, err = s.Bases(root)
	return err
}
