package grade

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/grader/build"
	"flashlab/grader/ops"
	"flashlab/grader/report"
	"flashlab/grader/rubric"
	"flashlab/grader/score"
	"flashlab/internal/cache"
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
	root, err = cache.Root()
	require.NoError(t, err)
	return root
}

func gradeOn(t *testing.T, root string, task *rubric.Task, s Subject, only string) score.Verdict {
	t.Helper()
	v, err := Task(context.Background(), Options{Root: root, Task: task, Subject: s, Devices: Devices{Kind: device.Sim, root: root},
		Seed: 42, Only: only, Output: t.TempDir()})
	require.NoError(t, err)
	return v
}

// feedback is what a student would read.
func feedback(v score.Verdict) string {
	var b bytes.Buffer
	report.Printer{W: &b}.Verdict(v)
	return b.String()
}

// edited is the solution with some texts replaced.
func edited(root string, task *rubric.Task, edits ...build.Edit) Subject {
	return Mutant(root, task, &build.Mutant{Name: "inline", About: "a test's", Edits: edits})
}

func inGo(find, replace string) build.Edit {
	return build.Edit{File: "attention.go", Find: find, Replace: replace}
}
func inCUDA(find, replace string) build.Edit {
	return build.Edit{File: "kernels.cu", Find: find, Replace: replace}
}

const (
	call  = "	return a.queue.Launch(a.softmax,"
	stage = "    // 1. Stage the row."
)

func TestTroublesomeSubmissions(t *testing.T) {
	root, task := setup(t)
	quick := *task
	quick.Limits.Case = 3
	quick.Limits.Steps = 1_000_000
	const one = "softmax/17x113"
	for name, c := range map[string]struct {
		edit build.Edit
		want []string
	}{
		"compile error in Go":  {inGo(call, "	undefinedThing()\n"+call), []string{"attention.go:LINE:", "undefined: undefinedThing", "was not run"}},
		"forbidden import":     {inGo("import (", "import (\n\t\"os\""), []string{"attention.go:4: imports \"os\""}},
		"missing New":          {inGo("func New(", "func Old("), []string{"was not run", "undefined: unfused.New"}},
		"compile error in .cu": {inCUDA(stage, "    int oops = ;\n"+stage), []string{"kernels.cu:LINE:", "error:"}},
		"forbidden header":     {inCUDA(stage, "#include <unistd.h>\n"+stage), []string{"kernels.cu:LINE: #include <unistd.h>"}},
		"panic":                {inGo(call, "	var p *int\n	*p = 1\n"+call), []string{"task2_unfused/attention.go:", "panic: runtime error: invalid memory address"}},
		"panic on the side":    {inGo(call, "	done := make(chan int)\n	go func() { var p *int; *p = 1 }()\n	<-done\n"+call), []string{"task2_unfused/attention.go:", "the program crashed: panic"}},
		"endless loop in Go":   {inGo(call, "	for done := false; !done; {\n	}\n"+call), []string{"no answer within 6s"}},
		"endless kernel":       {inCUDA(stage, "    for (volatile int i = 0; i < 1;) { row[0] = i; }\n"+stage), []string{"kernels.cu:LINE:", "0 of 0.15"}},
		"out of bounds":        {inCUDA("y[first + (size_t)i * inner] = row[i] / sum;", "y[first + (size_t)i * inner + len * gridDim.x] = row[i] / sum;"), []string{"kernels.cu:", "out of bounds"}},
		"no kernel":            {inGo(`"softmax": &a`, `"softmix": &a`), []string{`no kernel "softmix"`, "softmax"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := gradeOn(t, root, &quick, edited(root, task, c.edit), one)
			assert.False(t, v.Full())
			line := lineOf(t, root, task, c.edit)
			for _, want := range c.want {
				want = strings.Replace(want, ":LINE:", ":"+line+":", 1)
				assert.Contains(t, feedback(v), want)
			}
		})
	}
}

// lineOf is where an edit stands in the solution's file.
func lineOf(t *testing.T, root string, task *rubric.Task, e build.Edit) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, task.Dir, "solution", e.File))
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), e.Find)
	require.True(t, found, e.Find)
	return strconv.Itoa(1 + strings.Count(before, "\n"))
}

func TestPrintingDoesNotDisturb(t *testing.T) {
	t.Parallel()
	root, task := setup(t)
	print100MB := inGo(call, "	line := strings.Repeat(\"x\", 1<<20)\n	for range 100 {\n		fmt.Println(line)\n	}\n"+call)
	v := gradeOn(t, root, task, edited(root, task, print100MB, inGo("\"strconv\"\n", "\"strconv\"\n\t\"strings\"\n")), "softmax/17x113")
	assert.Equal(t, 1, v.Checks[0].Passed(), feedback(v))
}

func TestTheSameSeedGivesTheSameInputs(t *testing.T) {
	root, task := setup(t)
	o := Options{Root: root, Task: task, Seed: 7}
	c := task.Checks[0]
	all, err := o.plan()
	require.NoError(t, err)
	o.Only = "softmax/17x113"
	one, err := o.plan()
	require.NoError(t, err)
	require.Len(t, one.checks[0].Cases, 1)
	for _, k := range all.checks[0].Cases {
		if k.Name == "17x113" {
			op, err := ops.Find(c.Op)
			require.NoError(t, err)
			whole, err := o.wireCase(op, c, k, 1)
			require.NoError(t, err)
			alone, err := o.wireCase(op, c, one.checks[0].Cases[0], 9)
			require.NoError(t, err)
			assert.Equal(t, whole.Inputs, alone.Inputs)
		}
	}
	o.Only = "softmax/none"
	_, err = o.plan()
	assert.ErrorContains(t, err, "softmax/17x113")
}

func TestASubmissionFolder(t *testing.T) {
	t.Parallel()
	root, task := setup(t)
	dir := t.TempDir()
	assert.Equal(t, dir, Submission(root, task, dir).Dirs[0])
	v := gradeOn(t, root, task, Submission(root, task, dir), "")
	assert.Contains(t, v.Refused, "attention.go: is missing")
	require.NoError(t, os.Mkdir(filepath.Join(dir, task.Dir), 0o755))
	assert.Equal(t, filepath.Join(dir, task.Dir), Submission(root, task, dir).Dirs[0])
	assert.Contains(t, Options{Task: task, Subject: Submission(root, task, dir), Seed: 3}.again("softmax/1x1"),
		"go run ./grader grade -task 2 -submission "+dir+" -case softmax/1x1 -seed 3")
}

// TestTasksStandAlone: no package imports a task, but its own worker, so a
// broken task breaks nothing else.
func TestTasksStandAlone(t *testing.T) {
	root, err := cache.Root()
	require.NoError(t, err)
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Deps " "}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pkg, deps, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(pkg, "flashlab/grader/worker/task") {
			continue
		}
		for _, dep := range strings.Fields(deps) {
			assert.False(t, strings.HasPrefix(dep, "flashlab/task"), "%s imports %s", pkg, dep)
		}
	}
}
