package gradescope

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/report"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
)

// Graded is a submission that is being graded. Its results.json is rewritten after each task, so
// that it holds what was measured so far whenever Gradescope breaks off.
type Graded struct {
	file  string
	began time.Time
	out   string // of the batch that grades it
	class gradebook.Class
	id    string // the student's
	notes []string
	mu    sync.Mutex
}

// Begin starts the clock, and writes a results.json in case nothing else follows.
func Begin(results string) (*Graded, error) {
	g := &Graded{file: filepath.Join(results, "results.json"), began: time.Now()}
	return g, g.write("Grading was interrupted before anything was measured. This is not the submission's fault: hand in again, or tell your instructor.")
}

// Broken says that grading failed: the student reads that it is not their fault.
func (g *Graded) Broken() error {
	return g.write("Grading was interrupted. This is not the submission's fault: hand in again, or tell your instructor.")
}

// Grade grades the item, in no more than limit from the start. o lacks the folders, the item's
// course, and who looks on.
func (g *Graded) Grade(ctx context.Context, class gradebook.Class, i intake.Item, o batch.Options, limit time.Duration) error {
	g.class = class
	out, err := os.MkdirTemp("", "flashlab-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	// Builds are kept apart from the records: where each program runs as its own user, it has to
	// reach its folder, but must not reach these.
	work, err := os.MkdirTemp("", "flashlab-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o711); err != nil {
		return err
	}
	if o.Only, err = g.fitting(o.Only); err != nil {
		return err
	}
	if len(o.Only) > 0 { // the others are not there at all: no points, and nothing to wait for
		g.class.Course.Tasks = slices.DeleteFunc(slices.Clone(o.Only), func(n registry.Name) bool { return !g.class.Course.Graded(n) })
	}
	if s, ok := g.class.Roster.Find(i.Student.ID, i.Student.Email); ok {
		i.Student = s
	}
	g.id, g.out = i.Student.ID, out
	ctx, cancel := context.WithDeadline(ctx, g.began.Add(limit))
	defer cancel()
	o.Out, o.Work, o.Course, o.Jobs, o.Watch = out, work, g.class.Course, 1, g
	sum, err := batch.Run(ctx, o, []intake.Item{i})
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return g.write("Time ran out, and what is missing below is not measured. Tell your instructor, unless your code computes far more than it needs to.")
	case err != nil:
		return err
	case len(sum.Failed) > 0:
		harmless.Errorln(strings.Join(sum.Failed, "\n"))
		return g.write("Some of it could not be graded, through no fault of the submission. Hand in again, or tell your instructor.")
	}
	return g.write("")
}

// fitting leaves out tasks that the container has too little memory for.
func (g *Graded) fitting(only []registry.Name) (fit []registry.Name, err error) {
	wanted := only
	if len(wanted) == 0 {
		for _, t := range g.class.Rubrics {
			if g.class.Course.Graded(t.Name) {
				wanted = append(wanted, t.Name)
			}
		}
	}
	memory := Memory()
	for _, n := range wanted {
		need, too := TooSmall(n, memory)
		if !too {
			fit = append(fit, n)
			continue
		}
		note := fmt.Sprintf("Task %s is not graded here: its simulation needs %d MB of memory, and this container has %d.", n, need, memory)
		harmless.Println(note)
		g.notes = append(g.notes, note)
	}
	if len(fit) == 0 {
		return nil, errors.New("the container is too small for any of the tasks: choose a larger one in Gradescope's settings")
	}
	return fit, nil
}

// write writes the results of what is graded by now, with a line above them.
func (g *Graded) write(head string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := report.ForGradescope(nil)
	if g.out != "" {
		var err error
		if g.class.Records, err = record.ReadAll(g.out); err != nil {
			return err
		}
		for _, e := range g.class.Entries() {
			if e.Student.ID == g.id && e.Attempts > 0 {
				r = g.class.Gradescope(e)
			}
		}
	}
	r.Output = strings.TrimSpace(strings.Join(append([]string{head}, g.notes...), "\n") + "\n\n" + r.Output)
	r.Stdout = "hidden" // it is the instructor's
	harmless.All(&r)
	r.Time = time.Since(g.began).Seconds()
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(g.file), 0o755); err != nil {
		return err
	}
	return cache.WriteFile(g.file, append(data, '\n'), 0o644)
}

// Begin does nothing: a batch of one needs no headline.
func (g *Graded) Begin(int) {}

func (g *Graded) Step(_ intake.Item, task registry.Name, done, _ int) {
	if done > 0 {
		return
	}
	harmless.Printf("task %s, after %.0f s\n", task, time.Since(g.began).Seconds())
	if err := g.write("Not finished: grading was interrupted while it was working on what is missing below."); err != nil {
		harmless.Errorln(err)
	}
}

func (g *Graded) Done(_ intake.Item, _ *record.Record, _ int, err error) {
	if err != nil {
		harmless.Errorln(err)
	}
}
