package instructor

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"flashlab/grader/class/folder"
	"flashlab/grader/class/gradescope"
	"flashlab/grader/command"
	"flashlab/internal/harmless"
)

// inContainer is what `gradescope` was asked for.
type inContainer struct {
	folder.Folder
	machine
	submission, about, tasks string
	limit                    time.Duration
}

// Gradescope is what runs in Gradescope's container: it grades one submission.
var Gradescope = command.Command{Name: "gradescope", Summary: "grade one submission in Gradescope's container", Hidden: true,
	Define: func(f *flag.FlagSet) command.Run {
		var g inContainer
		f.StringVar(&g.submission, "submission", "/autograder/submission", "`folder` that was handed in")
		results := f.String("results", "/autograder/results", "`folder` for results.json")
		f.StringVar(&g.about, "metadata", "", "Gradescope's `submission_metadata.json`")
		f.DurationVar(&g.limit, "limit", 38*time.Minute, "how long all of it may take; Gradescope's longest is 40 minutes")
		f.StringVar(&g.Course, "course", "", "`course.toml`")
		f.StringVar(&g.tasks, "tasks", "", "grade only these, `1,2`")
		f.StringVar(&g.device, "device", "sim", "auto, sim or cuda")
		f.StringVar(&g.sandbox, "sandbox", "auto", "where students' code runs")
		f.BoolVar(&g.trust, "trust", false, "grade without a sandbox")
		check := f.String("check", "", "hold this `results.json` against Gradescope's documented format, and grade nothing")
		return func([]string) (int, error) {
			if *check != "" {
				checked, err := gradescope.Check(*check)
				if err != nil {
					return command.Failed, err
				}
				harmless.Println(checked)
				return command.Full, nil
			}
			graded, err := gradescope.Begin(*results)
			if err == nil {
				err = g.grade(graded)
			}
			if err != nil {
				// The student reads that it is not their fault; the instructor reads why, in the output that is theirs.
				return command.Failed, fmt.Errorf("gradescope: %w", errors.Join(err, graded.Broken()))
			}
			return command.Full, nil
		}
	}}

func (g inContainer) grade(graded *gradescope.Graded) error {
	c, err := open(&g.Folder)
	if err != nil {
		return err
	}
	item, err := gradescope.Item(g.submission, g.about)
	if err != nil {
		return err
	}
	o, close, err := g.prepare(c)
	if err != nil {
		return err
	}
	defer close()
	if o.Only, err = named(g.tasks, c.all); err != nil {
		return err
	}
	harmless.Printf("sandbox: %s\n", o.Settings.Sandbox.Name)
	ctx, stop := command.Interruptible()
	defer stop()
	return graded.Grade(ctx, c.class, item, o, g.limit)
}
