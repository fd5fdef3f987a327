package instructor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/folder"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/command"
	"flashlab/internal/harmless"
)

// grading is what `batch` was asked for.
type grading struct {
	folder.Folder
	machine
	submissions, tasks, student string
	slurm, part                 string
	jobs, atOnce, first         int
	regrade                     bool
}

// Batch grades a class.
var Batch = command.Command{Name: "batch", Summary: "grade a class", Usage: "SUBMISSIONS O=OUT [J=4] [COURSE=course.toml]", Args: command.Places,
	Define: func(f *flag.FlagSet) command.Run {
		var b grading
		define(&b.Folder, f)
		f.StringVar(&b.Out, "o", "", "`folder` for records, feedback and gradebook; batch goes on with what is there")
		f.StringVar(&b.tasks, "tasks", "", "grade only these, `1,2`; those of course.toml without it")
		f.StringVar(&b.student, "student", "", "grade only this one")
		f.BoolVar(&b.regrade, "regrade", false, "grade again what is graded")
		f.StringVar(&b.device, "device", "auto", "auto, sim or cuda")
		f.StringVar(&b.sandbox, "sandbox", "auto", "where students' code runs: auto or `bwrap`")
		f.BoolVar(&b.trust, "trust", false, "grade without a sandbox: the submissions may do what you may do")
		f.StringVar(&b.slurm, "slurm", "", "grade on a cluster, `partition=gpu,gres=gpu:1,time=60`, in addition to what site.toml says")
		f.IntVar(&b.atOnce, "at-once", 0, "with SLURM: so `many` students at a time; without it, as many as the cluster allows")
		f.StringVar(&b.part, "part", "", "grade one student by this `plan`: what SLURM has the nodes do")
		f.IntVar(&b.first, "first", 0, "with PART: the student that the array's index 0 stands for")
		f.IntVar(&b.jobs, "j", runtime.NumCPU(), "submissions at a time")
		return func(places []string) (int, error) {
			if b.part != "" {
				return b.onNode()
			}
			if len(places) != 1 || b.Out == "" {
				return command.Failed, errors.New("batch: want the folder of the submissions and one for the results: batch SUBMISSIONS O=OUT")
			}
			b.submissions = places[0]
			return b.run()
		}
	}}

func (b grading) run() (int, error) {
	c, err := open(&b.Folder)
	if err != nil {
		return command.Failed, err
	}
	only, err := named(b.tasks, c.all)
	if err != nil {
		return command.Failed, err
	}
	items, err := intake.Find(b.submissions, c.class.Roster)
	if err != nil {
		return command.Failed, err
	}
	if b.student != "" {
		if items, err = ofStudent(items, b.student, c.class.Roster); err != nil {
			return command.Failed, err
		}
	}
	if c.settings.Submissions, err = filepath.Abs(b.submissions); err != nil {
		return command.Failed, err
	}
	if b.slurm != "" {
		return b.spread(c, only, items)
	}
	o, close, err := b.prepare(c)
	if err != nil {
		return command.Failed, err
	}
	defer close()
	ctx, stop := command.Interruptible()
	defer stop()
	harmless.Printf("Grading %s on %s (%s), %d at a time; sandbox: %s\n", batch.Submissions(len(items)), o.Devices.Name(), o.Devices.Why, max(1, b.jobs), o.Settings.Sandbox.Name)
	watch := batch.NewProgress(os.Stdout, command.Terminal(), c.class.Measured)
	o.Out, o.Only, o.Regrade, o.Jobs, o.Watch = b.Out, only, b.regrade, b.jobs, watch
	sum, err := batch.Run(ctx, o, items)
	watch.Stop()
	if errors.Is(err, context.Canceled) {
		return command.Failed, fmt.Errorf("interrupted; graded and kept: %s; the same command goes on from there", record.Plural(sum.Graded, "task"))
	}
	if err != nil {
		return command.Failed, err
	}
	harmless.Printf("\n%s: %s graded now, %d before", batch.Submissions(sum.Submissions), record.Plural(sum.Graded, "task"), sum.Kept)
	if sum.Trouble > 0 {
		harmless.Printf("; %d could not be read (the gradebook says why)", sum.Trouble)
	}
	harmless.Println(".")
	if err := b.Write(c.class); err != nil {
		return command.Failed, err
	}
	if len(sum.Failed) > 0 {
		return command.Failed, fmt.Errorf("%s could not be graded, through no fault of theirs; start the batch again to try these once more:\n%s", batch.Submissions(len(sum.Failed)), strings.Join(sum.Failed, "\n"))
	}
	return command.Full, nil
}

// ofStudent picks one student's attempts, by any of their names.
func ofStudent(items []intake.Item, name string, roster *intake.Roster) ([]intake.Item, error) {
	if s, ok := roster.Find(name); ok {
		name = s.ID
	}
	picked := slices.DeleteFunc(items, func(i intake.Item) bool { return i.Student.ID != name })
	if len(picked) == 0 {
		return nil, fmt.Errorf("-student %s: nothing of theirs is among the submissions", name)
	}
	return picked, nil
}
