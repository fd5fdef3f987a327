package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"flashlab/grader/command"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
)

// Watch grades a task whenever one of its files is saved.
var Watch = command.Command{Name: "watch", Summary: "grade at every save, first what failed last", Usage: "TASK=2",
	Define: func(f *flag.FlagSet) command.Run {
		var w watching
		f.StringVar(&w.task, "task", "", aboutTask)
		f.StringVar(&w.only, "case", "", aboutCase)
		f.StringVar(&w.device, "device", "auto", aboutDevice)
		f.Uint64Var(&w.seed, "seed", 1, aboutSeed)
		return func([]string) (int, error) { return w.run() }
	}}

// watching is what `watch` was asked for, and the case to begin with after the next save.
type watching struct {
	grading
	failed string
}

func (w *watching) run() (int, error) {
	root, task, err := findOne("watch", w.task, "TASK=2")
	if err != nil {
		return command.Failed, err
	}
	devices, err := run.Choose(root, w.device)
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	s := saves{files: filesOf(run.Submission(root, task, ""), task), every: 100 * time.Millisecond}
	printer := report.Printer{W: os.Stdout, Terminal: command.Terminal()}
	s.say = func(missing string) {
		fmt.Fprintf(printer.W, "%s is not there: waiting for it. Ctrl-C ends it.\n", relative(root, missing))
	}
	for {
		seen, err := s.settled(ctx)
		if err != nil {
			return over(printer.W)
		}
		clearScreen(printer)
		began := time.Now()
		this, done := s.untilChanged(ctx, seen)
		err = w.once(this, root, task, devices, printer)
		overtaken := this.Err() != nil
		done()
		switch {
		case ctx.Err() != nil:
			return over(printer.W)
		case overtaken:
			continue
		}
		if err != nil { // a rubric or a machine that is broken, not the student's code
			return command.Failed, err
		}
		fmt.Fprintf(printer.W, "\n%s, in %.1f s. Waiting for the next save in %s; Ctrl-C ends it.\n", time.Now().Format("15:04:05"), time.Since(began).Seconds(), task.Dir)
		if s.changed(ctx, seen) != nil {
			return over(printer.W)
		}
	}
}

// few cases of each check come first, the small ones, so that an answer is there within seconds.
const few = 4

// once grades what failed last, or a few cases of each check. If they are right, it grades all that was asked for.
func (w *watching) once(ctx context.Context, root string, task *rubric.Task, devices run.Devices, printer report.Printer) error {
	fmt.Fprintln(printer.W, headline([]*rubric.Task{task}, devices, w.seed))
	began := time.Now()
	grade := func(only string, few int) (verdicts []verdict.Verdict, err error) {
		g := w.grading
		g.only, g.few = only, few
		if verdicts, err = g.each(ctx, root, []*rubric.Task{task}, devices, printer); err == nil {
			w.failed = first(verdicts[0])
		}
		return verdicts, err
	}
	if begin := w.failed; begin != "" || w.only == "" {
		rest, count := "This case still fails. The others run once it passes.", 0
		if begin == "" {
			rest, count = "These are the first cases of each check. The others run once these pass.", few
		}
		verdicts, err := grade(begin, count)
		if err != nil || verdicts[0].Refused != "" {
			return err
		}
		if w.failed != "" {
			fmt.Fprintln(printer.W, "\n"+rest)
			return nil
		}
		fmt.Fprintf(printer.W, "Right so far, after %.1f s. Now all cases.\n", time.Since(began).Seconds())
	}
	verdicts, err := grade(w.only, 0)
	if err != nil || verdicts[0].Refused != "" {
		return err
	}
	return w.write(root, verdicts)
}

// first is the first case of a verdict that is wrong or has a finding, and that one may run by its name; "" if there is none.
// Optional checks count where they are all that was asked for.
func first(v verdict.Verdict) string {
	checks := verdict.Scored(v.Checks)
	if len(checks) == 0 {
		checks = v.Checks
	}
	for _, c := range checks {
		for _, k := range c.Cases {
			if !k.Passed && !k.Hidden {
				return c.ID + "/" + k.Name
			}
		}
	}
	for _, c := range checks {
		for _, f := range c.Findings {
			if f.Case != "" {
				return c.ID + "/" + f.Case
			}
		}
	}
	return ""
}

func over(w io.Writer) (int, error) {
	fmt.Fprintln(w, "\nNo longer watching.")
	return command.Full, nil
}

// clearScreen begins at the top, so that the newest is all there is to see.
func clearScreen(p report.Printer) {
	if p.Terminal {
		fmt.Fprint(p.W, "\x1b[H\x1b[2J\x1b[3J")
	}
}

// filesOf are a submission's files, of the tasks that it uses, too.
func filesOf(s run.Subject, task *rubric.Task) (all []string) {
	for i, t := range task.All() {
		for _, name := range t.Files {
			all = append(all, filepath.Join(s.Dirs[i], name))
		}
	}
	return all
}

// saves looks at files again and again.
type saves struct {
	files []string
	every time.Duration
	say   func(missing string)
}

// look is when each file was written, and how long it is. While one is missing, as it is for a moment when an
// editor replaces it, it is the name of that.
func (s saves) look() (seen, missing string) {
	var all strings.Builder
	for _, name := range s.files {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			return "", name
		}
		if err == nil {
			fmt.Fprintln(&all, name, info.ModTime().UnixNano(), info.Size())
		}
	}
	return all.String(), ""
}

// changed waits until the files are not as they were seen.
func (s saves) changed(ctx context.Context, seen string) error {
	for {
		if now, missing := s.look(); missing == "" && now != seen {
			return nil
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// settled waits until two looks agree: several saves in a row are one. Of a file that stays away, it tells.
func (s saves) settled(ctx context.Context) (seen string, err error) {
	for looks := 0; ; looks++ {
		before, missing := s.look()
		if missing != "" && looks == patience {
			s.say(missing)
		}
		if err := s.pause(ctx); err != nil {
			return "", err
		}
		if now, gone := s.look(); missing == "" && gone == "" && now == before {
			return now, nil
		}
	}
}

// untilChanged is a context that ends with the next save. done ends it, too.
func (s saves) untilChanged(ctx context.Context, seen string) (one context.Context, done func()) {
	one, done = context.WithCancel(ctx)
	go func() {
		if s.changed(one, seen) == nil {
			done()
		}
	}()
	return one, done
}

// patience is how many looks a file may be missing before that is told.
const patience = 10

func (s saves) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.every):
		return nil
	}
}
