package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
	"flashlab/internal/harmless"
)

// Plan is a batch cut into units, one per student, that the machines of a cluster grade
// independently. It is in the batch's folder, where all of them find it.
type Plan struct {
	Out      string // the batch's folder
	Tree     string // Fingerprint of the course: a node that sees another one refuses
	Settings Settings
	Only     []registry.Name
	Regrade  bool
	Device   string
	Sandbox  string
	Trust    bool
	Units    []Unit
}

// Unit is what is graded in one go: all attempts of a student, because equal files in
// two of them are measured only once.
type Unit struct {
	Key   string // names everything that its measurement depends on
	Items []intake.Item
}

// Cut makes units of items. A submission that cannot be read is still a unit: its
// record says why.
func (p *Plan) Cut(items []intake.Item, tasks []*rubric.Task, courseKey string) error {
	if p.Regrade {
		courseKey += fmt.Sprint(" again ", os.Getpid()) // what was graded before does not count
	}
	for from := 0; from < len(items); {
		to := from
		for to < len(items) && items[to].Student.ID == items[from].Student.ID {
			to++
		}
		u := Unit{Items: items[from:to]}
		parts := []string{"unit", strconv.Itoa(record.Version), p.Tree, courseKey, p.Settings.Seed, fmt.Sprint(p.Only), p.Device, u.Items[0].Student.ID}
		for _, i := range u.Items {
			text, err := json.Marshal(i)
			if err != nil {
				return err
			}
			content, err := intake.Read(i.Path, intake.WantedOf(tasks))
			var broken *intake.Trouble
			if err != nil && !errors.As(err, &broken) {
				return err
			}
			parts = append(parts, string(text), string(content.Receipt), string(content.Results), string(content.Board), string(content.Regrade))
		}
		u.Key = cache.Key(parts...)
		p.Units = append(p.Units, u)
		from = to
	}
	return nil
}

// What a part's folder holds in addition to records.
const (
	keyName  = "unit"      // the unit's key, from the start
	doneName = "done.json" // at the end
)

// PartDone is how a part ended.
type PartDone struct {
	Key    string
	Node   string
	Graded int // tasks graded now
	Kept   int // graded before the part began, or by one that was lost
	Failed []string
}

// Part grades one unit into its own folder, which nobody else writes to. It starts
// from what the batch, and lost parts of the same unit, already have. o.Out is taken
// from the plan.
func (p *Plan) Part(ctx context.Context, o Options, unit int, dir string) error {
	if unit < 0 || unit >= len(p.Units) {
		return fmt.Errorf("the plan has no unit %d", unit)
	}
	if o.Tree.Whole() != p.Tree {
		return errors.New("the course has changed since the batch was started: end it and start it again")
	}
	u := p.Units[unit]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := cache.WriteFile(filepath.Join(dir, keyName), []byte(u.Key), 0o644); err != nil {
		return err
	}
	if err := p.before(u, dir); err != nil {
		return err
	}
	o.Out, o.Settings, o.Only, o.Regrade, o.Jobs = dir, p.Settings, p.Only, p.Regrade, 1
	sum, err := Run(ctx, o, u.Items)
	if err != nil {
		return err
	}
	node, _ := os.Hostname()
	text, err := json.Marshal(PartDone{Key: u.Key, Node: node, Graded: sum.Graded, Kept: sum.Kept, Failed: sum.Failed})
	if err != nil {
		return err
	}
	return record.Durable(filepath.Join(dir, doneName), text)
}

// before copies the existing records of the unit's student.
func (p *Plan) before(u Unit, dir string) error {
	from := []string{p.Out}
	parts, _ := glob.In(filepath.Dir(dir), "*/"+keyName)
	for _, name := range parts {
		key, err := os.ReadFile(name)
		if other := filepath.Dir(name); err == nil && string(key) == u.Key && other != dir {
			from = append(from, other)
		}
	}
	for _, i := range u.Items {
		for _, out := range from {
			r, err := record.Read(filepath.Join(out, record.Name(i.Student.ID, i.Attempt)))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			mine, err := record.Read(filepath.Join(dir, record.Name(i.Student.ID, i.Attempt)))
			if err == nil { // what another part has in addition to the batch's own
				for _, t := range r.Tasks {
					mine.Put(t)
				}
				r = mine
			}
			if err := record.Write(dir, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadPart reads how a part ended; fs.ErrNotExist while it has not.
func ReadPart(dir string) (PartDone, error) {
	var d PartDone
	text, err := os.ReadFile(filepath.Join(dir, doneName))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	return d, err
}

// Collect moves a finished part's records into the batch's folder and removes the
// part. Only the records of the unit's own attempts are taken.
func (p *Plan) Collect(dir string, unit int) ([]*record.Record, error) {
	var taken []*record.Record
	for _, i := range p.Units[unit].Items {
		r, err := record.Read(filepath.Join(dir, record.Name(i.Student.ID, i.Attempt)))
		if err != nil {
			return nil, err
		}
		if err := record.Write(p.Out, r); err != nil {
			return nil, err
		}
		taken = append(taken, r)
	}
	return taken, os.RemoveAll(dir)
}

// Name says whose unit it is.
func (u Unit) Name() string { return harmless.Line(u.Items[0].Student.ID) }

// Unit finds a unit by its key; -1 if the plan has no such unit.
func (p *Plan) Unit(key string) int {
	return slices.IndexFunc(p.Units, func(u Unit) bool { return u.Key == strings.TrimSpace(key) })
}

// Outcome says in a line what came of an attempt; fresh counts the tasks that were
// graded now.
func Outcome(r *record.Record, fresh int, measured Measured) string {
	return harmless.Line(outcome(r, fresh, nil, measured))
}
