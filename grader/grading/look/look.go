// Package look checks what a student packs before it is handed in: it compiles each task and runs a few cases.
package look

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
)

// Look is what was seen of one task's files.
type Look struct {
	Task     *rubric.Task
	Line     string   // one line where all is well
	Warnings []string // what the student should know; "" never
}

// At looks at one task as it was packed: stubs, what the gate and the compilers
// say, and the first case of each check, in the simulator. That is no grade.
func At(ctx context.Context, z handin.Zip, root string, t *rubric.Task, devices run.Devices, all judge.Ops) (Look, error) {
	l := Look{Task: t}
	left, written := stubs(z, t)
	if len(left) > 0 && len(written) == 0 {
		l.Warnings = []string{"it is still the stub: nothing is written yet"}
		return l, nil
	}
	if len(left) > 0 {
		l.Warnings = append(l.Warnings, "not written yet: "+strings.Join(left, ", "))
	}
	v, err := run.Task(ctx, run.Options{Root: root, Task: t, Ops: all, Subject: run.Submission(root, t, ""), Devices: devices, Seed: 1, Few: 1,
		Output: filepath.Join(root, "out")})
	if err != nil {
		return l, err
	}
	if v.Refused != "" {
		l.Warnings = append(l.Warnings, "it does not build, and would get no points:\n"+v.Refused)
		return l, nil
	}
	passed, cases := 0, 0
	for _, c := range verdict.Scored(v.Checks) {
		for _, k := range c.Cases {
			cases++
			if k.Passed {
				passed++
				continue
			}
			if k.Class != "not_implemented" && k.Class != "not_run" && len(left) == 0 {
				l.Warnings = append(l.Warnings, fmt.Sprintf("%s/%s: %s", c.ID, k.Name, firstLines(k.Reason, 8)))
			}
		}
		l.Warnings = append(l.Warnings, findings(c)...)
	}
	l.Line = fmt.Sprintf("builds; of each check's first case, %d of %d are right", passed, cases)
	return l, nil
}

// stubs names the functions of a task that are not written, and those that are.
func stubs(z handin.Zip, t *rubric.Task) (left, written []string) {
	for _, f := range t.Files {
		if path.Ext(f) == ".go" {
			stubs, others := handin.Stubs(z.Files[path.Join(t.Dir, f)], t.Optional)
			left, written = append(left, stubs...), append(written, others...)
		}
	}
	return left, written
}

func findings(c verdict.Check) []string {
	if len(c.Findings) == 0 {
		return nil
	}
	return []string{"the simulator: " + c.Findings[0].Headline()}
}

func firstLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = append(lines[:n], "…")
	}
	return strings.Join(lines, "\n")
}
