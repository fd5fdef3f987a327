package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"flashlab/grader/tasks/registry"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/gradescope"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/edition"
	"flashlab/grader/grading/report"
	"flashlab/grader/release"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/cache"
)

// gradescopeZipCommand writes what an instructor uploads to Gradescope.
func gradescopeZipCommand(args []string) (int, error) {
	f := flag.NewFlagSet("gradescope-zip", flag.ContinueOnError)
	course := f.String("course", "", "`course.toml`; tables beside it go along")
	out := f.String("o", "out/autograder.zip", "`file` to write")
	tasks := f.String("tasks", "", "grade only these, `1,2`; those of course.toml without it")
	trust := f.Bool("trust", false, "grade without a sandbox, where Gradescope's container has none")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	c := classFlags{course: *course}
	root, all, settings, err := c.open()
	if err != nil {
		return exitFailed, err
	}
	if _, err := c.class(all, settings); err != nil { // a mistake in it shows here, not at the deadline
		return exitFailed, err
	}
	if _, err := named(*tasks, all); err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tree, err := release.Grading(ctx, root)
	if err != nil {
		return exitFailed, fmt.Errorf("gradescope-zip: %w", err)
	}
	var flags []string
	if *tasks != "" {
		flags = append(flags, "-tasks", strings.ReplaceAll(*tasks, " ", ","))
	}
	if *trust {
		flags = append(flags, "-trust")
	}
	data, err := gradescope.Zip(gradescope.Input{Tree: tree, Course: *course, Flags: strings.Join(flags, " ")})
	if err != nil {
		return exitFailed, err
	}
	if err := cache.WriteFile(*out, data, 0o600); err != nil {
		return exitFailed, err
	}
	fmt.Printf("Written: %s (%.1f MB), of %s. It holds the hidden cases and the class seed: give it to Gradescope alone.\n", *out, float64(len(data))/1e6, tree.Name)
	if tree.Dirty {
		fmt.Println("warning: the working tree has changes that are not committed; they are not in it")
	}
	return exitFull, nil
}

// gradescopeCommand is what runs in Gradescope's container: it grades one submission, and writes
// results.json anew after each task.
func gradescopeCommand(args []string) (int, error) {
	var b batchFlags
	f := flag.NewFlagSet("gradescope", flag.ContinueOnError)
	f.StringVar(&b.submissions, "submission", "/autograder/submission", "`folder` that was handed in")
	results := f.String("results", "/autograder/results", "`folder` for results.json")
	about := f.String("metadata", "", "Gradescope's `submission_metadata.json`")
	limit := f.Duration("limit", 38*time.Minute, "how long all of it may take; Gradescope's longest is 40 minutes")
	f.StringVar(&b.course, "course", "", "`course.toml`")
	f.StringVar(&b.tasks, "tasks", "", "grade only these, `1,2`")
	f.StringVar(&b.device, "device", "sim", "auto, sim or cuda")
	f.StringVar(&b.sandbox, "sandbox", "auto", "where students' code runs")
	f.BoolVar(&b.trust, "trust", false, "grade without a sandbox")
	check := f.String("check", "", "hold this `results.json` against Gradescope's documented format, and grade nothing")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	if *check != "" {
		return checkResults(*check)
	}
	g := &graded{file: filepath.Join(*results, "results.json"), began: time.Now()}
	err := g.write("Grading broke off before anything was measured. It is no fault of the submission; hand in again, or tell your instructor.")
	if err == nil {
		err = g.run(b, *about, *limit)
	}
	if err != nil {
		// The student reads that it is not their fault; the instructor reads why, in the output that is theirs.
		err = errors.Join(err, g.write("Grading broke off, by no fault of the submission. Hand in again, or tell your instructor."))
		return exitFailed, fmt.Errorf("gradescope: %w", err)
	}
	return exitFull, nil
}

// checkResults says whether Gradescope will take a results.json, and what it comes to.
func checkResults(name string) (int, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return exitFailed, err
	}
	if err := report.CheckGradescope(data); err != nil {
		return exitFailed, fmt.Errorf("%s: %w", name, err)
	}
	var r report.Gradescope
	if err := json.Unmarshal(data, &r); err != nil {
		return exitFailed, fmt.Errorf("%s: %w", name, err)
	}
	of := 0.0
	for _, t := range r.Tests {
		of += t.MaxScore
	}
	fmt.Printf("%s is as Gradescope wants it: %s points, of %s in %d tests\n", name, report.Points(r.Score), report.Points(of), len(r.Tests))
	return exitFull, nil
}

// graded is a submission in work.
type graded struct {
	file  string
	began time.Time
	out   string // of the batch that grades it
	class gradebook.Class
	id    string // the student's
	notes []string
	mu    sync.Mutex
}

func (g *graded) run(b batchFlags, about string, limit time.Duration) error {
	var err error
	if g.out, err = os.MkdirTemp("", "flashlab-*"); err != nil {
		return err
	}
	defer os.RemoveAll(g.out)
	b.out = g.out
	// Builds lie apart from the records: where each program is a user of its own, it has to come to
	// its folder, and must not come to these.
	work, err := os.MkdirTemp("", "flashlab-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o711); err != nil {
		return err
	}
	root, all, settings, err := b.open()
	if err != nil {
		return err
	}
	if g.class, err = b.class(all, settings); err != nil {
		return err
	}
	only, err := named(b.tasks, all)
	if err != nil {
		return err
	}
	only, err = g.fitting(only)
	if err != nil {
		return err
	}
	if len(only) > 0 { // the others are not there at all: no points, and nothing to wait for
		g.class.Course.Tasks = slices.DeleteFunc(only, func(n registry.Name) bool { return !g.class.Course.Graded(n) })
	}
	i, err := gradescope.Item(b.submissions, about)
	if err != nil {
		return err
	}
	if s, ok := g.class.Roster.Find(i.Student.ID, i.Student.Email); ok {
		i.Student = s
	}
	g.id = i.Student.ID
	devices, box, closeBox, err := b.machine(root)
	if err != nil {
		return err
	}
	defer closeBox()
	fmt.Printf("sandbox: %s\n", box.Name)
	tree, err := batch.Fingerprint(root, all)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithDeadline(ctx, g.began.Add(limit))
	defer cancel()
	sum, err := batch.Run(ctx, batch.Options{Ops: rooms.Ops, Root: root, Out: g.out, Work: work, Course: g.class.Course, Tasks: all, Only: only, Devices: devices, Jobs: 1,
		Release: edition.Name(root), Tree: tree, Watch: g, Settings: settings}, []intake.Item{i})
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return g.write("Time ran out, and what is missing below is not measured. Tell your instructor, unless your code computes far more than it needs to.")
	case err != nil:
		return err
	case len(sum.Failed) > 0:
		fmt.Fprintln(os.Stderr, strings.Join(sum.Failed, "\n"))
		return g.write("Some of it could not be graded, by no fault of the submission. Hand in again, or tell your instructor.")
	}
	return g.write("")
}

// fitting leaves out tasks that the container has too little memory for.
func (g *graded) fitting(only []registry.Name) (fit []registry.Name, err error) {
	wanted := only
	if len(wanted) == 0 {
		for _, t := range g.class.Rubrics {
			if g.class.Course.Graded(t.Name) {
				wanted = append(wanted, t.Name)
			}
		}
	}
	memory := gradescope.Memory()
	for _, n := range wanted {
		need, too := gradescope.TooSmall(n, memory)
		if !too {
			fit = append(fit, n)
			continue
		}
		note := fmt.Sprintf("Task %s is not graded here: its simulation needs %d MB of memory, and this container has %d.", n, need, memory)
		fmt.Println(note)
		g.notes = append(g.notes, note)
	}
	if len(fit) == 0 {
		return nil, errors.New("the container is too small for any of the tasks: choose a larger one in Gradescope's settings")
	}
	return fit, nil
}

// write writes the results of what is graded by now, with a line above them.
func (g *graded) write(head string) error {
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

// Begin, Step and Done watch the batch of one.
func (g *graded) Begin(int) {}

func (g *graded) Step(_ intake.Item, task registry.Name, done, _ int) {
	if done > 0 {
		return
	}
	fmt.Printf("task %s, after %.0f s\n", task, time.Since(g.began).Seconds())
	if err := g.write("Not finished: grading broke off while it was at work on what is missing below."); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (g *graded) Done(_ intake.Item, _ *record.Record, _ int, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
