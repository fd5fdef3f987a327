package run

import (
	"context"
	"slices"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/wire"
)

// Compiled is what came of compiling.
type Compiled struct {
	Wrong string // the gate's or a compiler's words; "" where all of it compiles
	What  string // what was compiled: "Go, and the kernels for the simulator"
	But   string // ", but nothing compiles kernels yet: New is still the stub"
}

// Compile builds the subject's worker as grading does, and runs one small case, for which it compiles
// its kernels: they are the student's program's to compile. What the case comes to does not matter.
func Compile(ctx context.Context, o Options) (Compiled, error) {
	c := Compiled{What: "Go"}
	task := *o.Task
	first := task.Checks[0]
	first.After = nil
	task.Checks = []rubric.Check{first}
	o.Task, o.Few, o.Only = &task, 1, ""
	v, err := Task(ctx, o)
	if err != nil {
		return c, err
	}
	if v.Refused != "" {
		c.Wrong = v.Refused
		return c, nil
	}
	kernels := slices.ContainsFunc(o.Task.All(), func(t *rubric.Task) bool {
		return slices.ContainsFunc(t.Files, func(f string) bool { return strings.HasSuffix(f, ".cu") })
	})
	for _, one := range v.Checks[0].Cases {
		switch {
		case one.Class == string(wire.Compile):
			c.Wrong = one.Reason
		case one.Class == string(wire.NotImplemented) && kernels:
			c.But = "; kernels may not be compiled yet, for it is still the stub"
		}
	}
	if kernels {
		c.What = "Go, and kernels for " + o.Devices.Name()
	}
	return c, nil
}
