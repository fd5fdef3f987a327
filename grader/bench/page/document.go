// Package page keeps what `make bench DOCS=1` measured, as JSON, as a page and as
// pictures. The page and the pictures come entirely from the JSON.
package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/timing"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
)

// Document is all of docs/reference.json. A run of one task replaces that task's part.
type Document struct {
	Parts []Part
	Lacks []registry.Name `json:",omitempty"` // tasks that the run of these parts did not come to
}

// Part is what one run measured of one task.
type Part struct {
	Task          registry.Name
	Title         string
	Date          time.Time
	Commit        string
	Go            string
	Seed          uint64
	GPU           string `json:",omitempty"` // its name
	Before, After State
	Runs          int     `json:",omitempty"` // of each racer
	Seconds       float64 `json:",omitempty"` // that all of it took
	Peer          string  // "PyTorch 2.11.0"; "" where there was none
	NoPeer        string  // why
	Test          race.SelfTest
	Rows          []race.Row
	Versions      []Version `json:",omitempty"`
	Models        []Model   `json:"Chats,omitempty"` // as documents of before call them
}

// Version is one of the versions of a task's solution, on one of the workloads on which
// they are compared; the graded one is last and has no name.
type Version struct {
	Name    string // "2_registers"
	Inexact bool   `json:",omitempty"` // by more than the judge allows, as its ladder says
	Row     race.Row
}

// Model is a model that answers: ours and PyTorch's, one process after the other.
type Model struct {
	Name         string
	ID           string  // in pictures: "gpt2-1-512"
	Ours, Theirs []Times // one of each round
	Not          string  // why there is no peer
	Work         Work
	Agreement
	Others  []Other `json:",omitempty"` // besides
	Kernels string  `json:",omitempty"` // the hash of the code that ran
}

// Other is a further program of the same model, beside ours.
type Other struct {
	Name  string // "PyTorch, torch.compile in a CUDA graph"
	Times []Times
	Not   string `json:",omitempty"` // why there are no times
	Agreement
}

// Eager is what Theirs is: the same program, step by step as it is written, recorded once.
const Eager = "PyTorch eager, in a CUDA graph"

// beside are all programs that a model is compared with.
func (m Model) beside() []Other {
	return append([]Other{{Eager, m.Theirs, m.Not, m.Agreement}}, m.Others...)
}

// Work is the least that both have to do.
type Work struct {
	Prompt float64 // operations of a prompt
	Token  float64 // bytes that a token reads, in the mean
}

// Times are those of one process, in nanoseconds: to the first token, of several
// answers, and between tokens, of one.
type Times struct{ First, Each []float64 }

// first gives medians of all rounds together.
func first(all []Times) timing.Stats {
	return described(all, func(t Times) []float64 { return t.First })
}

func each(all []Times) timing.Stats { return described(all, func(t Times) []float64 { return t.Each }) }

func described(all []Times, of func(t Times) []float64) timing.Stats {
	var x []float64
	for _, t := range all {
		x = append(x, of(t)...)
	}
	return timing.Describe(x)
}

// Put replaces a task's part.
func (d *Document) Put(p Part) {
	d.Parts = slices.DeleteFunc(d.Parts, func(old Part) bool { return old.Task == p.Task })
	d.Lacks = slices.DeleteFunc(d.Lacks, func(task registry.Name) bool { return task == p.Task })
	d.Parts = append(d.Parts, p)
	slices.SortFunc(d.Parts, func(a, b Part) int { return registry.All.Compare(a.Task, b.Task) })
}

// rows are those of all parts, with the machine's own test.
func (d Document) rows(use func(r race.Row, t race.SelfTest)) {
	for _, p := range d.Parts {
		for _, r := range p.Rows {
			use(r, p.Test)
		}
	}
}

// Names of the files.
const (
	jsonName = "reference.json"
	pageName = "reference.md"
)

// Files are all that a page consists of.
func Files() []string {
	all := []string{jsonName, pageName}
	for _, p := range pictures(Document{}) {
		all = append(all, p.name+".svg", p.name+".png")
	}
	return all
}

// Load reads what is there; nothing at all is an empty document.
func Load(dir string) (d Document, err error) {
	d, err = Read(filepath.Join(dir, jsonName))
	if errors.Is(err, os.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("%w: repair it, or remove it to start again", err)
	}
	return d, nil
}

// Redraw writes the page alone, from the JSON that is there. It tells whether that changed anything.
func Redraw(dir string, code Code) (changed bool, err error) {
	d, err := Load(dir)
	if err != nil {
		return false, err
	}
	name := filepath.Join(dir, pageName)
	was, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	text := d.Page(code)
	return text != string(was), cache.WriteFile(name, []byte(text), 0o644)
}

// PartFile is the name of a task's part, as it is kept until all parts are there.
func PartFile(task registry.Name) string { return "part-" + string(task) + ".json" }

// ReadParts makes a document of the parts in a folder.
func ReadParts(dir string) (d Document, err error) {
	files, err := glob.In(dir, PartFile("*"))
	if err != nil {
		return d, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return d, err
		}
		var p Part
		if err := json.Unmarshal(data, &p); err != nil || PartFile(p.Task) != filepath.Base(file) {
			return d, fmt.Errorf("%s is not a part that `make bench DOCS=1` saved: remove it and time its task again", file)
		}
		d.Put(p)
	}
	return d, nil
}

// Read reads a document that an earlier run wrote.
func Read(file string) (d Document, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("%s is not what `make bench DOCS=1` writes as %s: %w", file, jsonName, err)
	}
	return d, nil
}

// Write writes the JSON and the page, beside the code that is here now.
func (d Document) Write(dir string, code Code) error {
	if err := d.Whole(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	if err := cache.WriteFile(filepath.Join(dir, jsonName), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return cache.WriteFile(filepath.Join(dir, pageName), []byte(d.Page(code)), 0o644)
}
