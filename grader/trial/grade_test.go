package trial

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// These tests grade for real, in the simulator: they are what the course hangs
// on. A few seconds each, mostly for building.

func setup(t *testing.T) (root string, task *rubric.Task) {
	t.Helper()
	root = ready(t)
	task, err := rubric.Load(root, "task2_unfused")
	require.NoError(t, err)
	return root, task
}

// ready makes sure that there is a simulator.
func ready(t *testing.T) (root string) {
	t.Helper()
	s, err := sim.Start(sim.Options{})
	if errors.Is(err, sim.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NoError(t, s.Close())
	root, err = repo.Root()
	require.NoError(t, err)
	return root
}

func gradeOn(t *testing.T, root string, task *rubric.Task, s run.Subject, only string) verdict.Verdict {
	t.Helper()
	v, err := run.Task(context.Background(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s, Devices: run.Devices{Kind: device.Sim, Root: root},
		Seed: 42, Only: only, Output: t.TempDir(), Release: "trial"})
	require.NoError(t, err)
	return v
}

// feedback is what a student would read.
func feedback(v verdict.Verdict) string {
	var b bytes.Buffer
	report.Printer{W: &b}.Verdict(v)
	return b.String()
}

func TestTheSameSeedGivesTheSameInputs(t *testing.T) {
	root, task := setup(t)
	o := run.Options{Root: root, Task: task, Ops: rooms.Ops, Seed: 7}
	c := task.Checks[0]
	all, err := o.Plan()
	require.NoError(t, err)
	o.Only = "softmax/17x113"
	one, err := o.Plan()
	require.NoError(t, err)
	require.Len(t, one.Checks[0].Cases, 1)
	for _, k := range all.Checks[0].Cases {
		if k.Name == "17x113" {
			op, err := rooms.Ops.Find(c.Op)
			require.NoError(t, err)
			whole, err := o.WireCase(op, c, k, 1)
			require.NoError(t, err)
			alone, err := o.WireCase(op, c, one.Checks[0].Cases[0], 9)
			require.NoError(t, err)
			assert.Equal(t, whole.Inputs, alone.Inputs)
		}
	}
	o.Only = "softmax/none"
	_, err = o.Plan()
	assert.ErrorContains(t, err, "CASE is a check, or a case of one, as softmax/1x1")
	assert.ErrorContains(t, err, " 17x113 ")
}

func TestASubmissionFolder(t *testing.T) {
	t.Parallel()
	root, task := setup(t)
	dir := t.TempDir()
	assert.Equal(t, dir, run.Submission(root, task, dir).Dirs[0])
	v := gradeOn(t, root, task, run.Submission(root, task, dir), "")
	assert.Contains(t, v.Refused, "attention.go: is missing")
	require.NoError(t, os.Mkdir(filepath.Join(dir, task.Dir), 0o755))
	assert.Equal(t, filepath.Join(dir, task.Dir), run.Submission(root, task, dir).Dirs[0])
	assert.Contains(t, run.Options{Task: task, Subject: run.Submission(root, task, dir), Seed: 3}.Again("softmax/1x1"),
		"make grade TASK=2 SUBMISSION="+dir+" CASE=softmax/1x1 SEED=3")
}

// TestTasksStandAlone: no package imports a task, but its own worker and the program that notes its
// launches for Python, so a broken task breaks nothing else.
func TestTasksStandAlone(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Deps " "}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pkg, deps, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(pkg, "flashlab/grader/tasks/") && strings.HasSuffix(pkg, "/worker") || strings.HasPrefix(pkg, "flashlab/python/planner/") {
			continue
		}
		for _, dep := range strings.Fields(deps) {
			assert.False(t, strings.HasPrefix(dep, "flashlab/task"), "%s imports %s", pkg, dep)
		}
	}
}
