package trial

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// simple is the base of task 2 that is edited: it has the text of a student's kernels.
const simple = "shared"

// edited is a base, task 2's the simple one, with some texts replaced.
func edited(root string, task *rubric.Task, edits ...Edit) run.Subject {
	s := Specimen{Name: "inline", Task: task, About: "a test's", Base: Whole, Edits: edits}
	if task.Name == "2" {
		s.Base = simple
	}
	return s.Subject(root)
}

func inGo(find, replace string) Edit {
	return Edit{File: "attention.go", Find: find, Replace: replace}
}
func inCUDA(find, replace string) Edit {
	return Edit{File: "kernels.cu", Find: find, Replace: replace}
}

const (
	call  = "	return a.queue.Launch(a.softmax,"
	stage = "    // 1. Stage the row."
)

// TestTroublesomeSolutions: one thing goes wrong in code that is right
// otherwise, and the feedback names it and its line.
func TestTroublesomeSolutions(t *testing.T) {
	root, task := setup(t)
	quick := *task
	quick.Limits.Steps = 1_000_000
	for name, c := range map[string]struct {
		edit Edit
		want []string
	}{
		"compile error in Go":  {inGo(call, "	undefinedThing()\n"+call), []string{"attention.go:LINE:", "undefined: undefinedThing", "was not run"}},
		"forbidden import":     {inGo("import (", "import (\n\t\"os\""), []string{"attention.go:4: imports \"os\""}},
		"missing New":          {inGo("func New(", "func Old("), []string{"was not run", "undefined: unfused.New"}},
		"compile error in .cu": {inCUDA(stage, "    int oops = ;\n"+stage), []string{"kernels.cu:LINE:", "error:"}},
		"forbidden header":     {inCUDA(stage, "#include <unistd.h>\n"+stage), []string{"kernels.cu:LINE: #include <unistd.h>"}},
		"panic":                {inGo(call, "	var p *int\n	*p = 1\n"+call), []string{"task2_unfused/attention.go:", "panic: runtime error: invalid memory address"}},
		"panic on the side":    {inGo(call, "	done := make(chan int)\n	go func() { var p *int; *p = 1 }()\n	<-done\n"+call), []string{"task2_unfused/attention.go:", "the program crashed: panic"}},
		"endless kernel":       {inCUDA(stage, "    for (volatile int i = 0; i < 1;) { row[0] = i; }\n"+stage), []string{"kernels.cu:LINE:", "0 of 0.15"}},
		"out of bounds":        {inCUDA("y[first + (size_t)i * inner] = row[i] / sum;", "y[first + (size_t)i * inner + len * gridDim.x] = row[i] / sum;"), []string{"kernels.cu:", "out of bounds", "THREAD="}},
		"no kernel":            {inGo(`"softmax": &a`, `"softmix": &a`), []string{`no kernel "softmix"`, "softmax"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := gradeOn(t, root, &quick, edited(root, task, c.edit), "softmax/17x113")
			assert.False(t, v.Full())
			line := lineOf(t, root, task, c.edit)
			for _, want := range c.want {
				want = strings.Replace(want, ":LINE:", ":"+line+":", 1)
				assert.Contains(t, feedback(v), want)
			}
		})
	}
}

// lineOf is the line of an edit in its base's file.
func lineOf(t *testing.T, root string, task *rubric.Task, e Edit) string {
	t.Helper()
	files, err := Specimen{Task: task, Base: simple}.Made(root)
	require.NoError(t, err)
	at := slices.IndexFunc(files, func(f gate.File) bool { return f.Name == e.File })
	before, _, found := strings.Cut(string(files[at].Data), e.Find)
	require.True(t, found, e.Find)
	return strconv.Itoa(1 + strings.Count(before, "\n"))
}

func TestPrintingDoesNotDisturb(t *testing.T) {
	t.Parallel()
	root, task := setup(t)
	print100MB := inGo(call, "	line := strings.Repeat(\"x\", 1<<20)\n	for range 100 {\n		fmt.Println(line)\n	}\n"+call)
	v := gradeOn(t, root, task, edited(root, task, print100MB, inGo("\"strconv\"\n", "\"strconv\"\n\t\"strings\"\n")), "softmax/17x113")
	assert.Equal(t, 1, v.Checks[0].Passed(), feedback(v))
	kernel100MB := inCUDA(stage, "    for (int i = 0; i < 100 * 1024 / 128; i++) printf(\"%1000d\\n\", i);\n"+stage)
	v = gradeOn(t, root, task, edited(root, task, kernel100MB), "softmax/17x113")
	assert.Equal(t, 1, v.Checks[0].Passed(), feedback(v))
	assert.Less(t, len(feedback(v)), 200<<10)
}

// trouble is what a student makes of task 2's stub: what Softmax does, what else is
// in the files, and what the feedback must say.
type trouble struct {
	softmax string // Go, in place of Softmax's body
	more    string // Go, behind everything
	imports string
	kernel  string // CUDA, in place of the kernel's body; it is compiled and launched
	printed bool   // the feedback shows what was printed
	says    string
}

const launch = `	module, err := a.queue.Compile(Source)
	if err != nil {
		return err
	}
	kernel, err := module.Kernel("softmax")
	if err != nil {
		return err
	}
	return a.queue.Launch(kernel, device.Launch{Grid: device.D1(17), Block: device.D1(128)}, src, dst, s.Len, s.Inner)`

var troubles = map[string]trouble{
	"compile error in Go":     {softmax: "	undefinedThing()\n	return nil", says: "task2_unfused/attention.go:38:2: undefined: undefinedThing"},
	"compile error in .cu":    {kernel: "    int oops = ;", says: "kernels.cu:10:16: error"},
	"endless loop":            {softmax: "	for {\n	}", says: "no answer within 2s, so it was stopped: is there an endless loop?"},
	"endless initialisation":  {softmax: "	return nil", more: "var x = func() int {\n	for {\n	}\n}()", says: "no answer within 10s"},
	"endless kernel":          {kernel: "    for (int i = 0;; i++) y[i % len] = x[i % len];", says: "kernels.cu:10:"},
	"panic":                   {softmax: "	panic(\"oh no\")", says: "task2_unfused/attention.go:38: panic: oh no"},
	"panic in initialisation": {softmax: "	return nil", more: "var x = func() int { panic(\"oh no\") }()", says: "panic: oh no"},
	"endless recursion":       {softmax: "	return a.Softmax(dst, src, s)", says: "the program crashed: "},
	"exit":                    {softmax: "	os.Exit(0)\n	return nil", imports: `"os"`, says: `attention.go:4: imports "os"`},
	"exit by linking":         {softmax: "	exit(0)\n	return nil", more: "//go:linkname exit os.Exit\nfunc exit(int)", says: "//go:linkname"},
	"exit of the kernel":      {kernel: "    exit(0);", says: "exit"},
	"success at once":         {softmax: "	return nil", says: "never written"},
	"kernel crash":            {kernel: "    y[(size_t)1 << 60] = 1.0f;", says: "kernels.cu:10:24: write out of bounds"},
	"kernel trap":             {kernel: "    __trap();", says: "kernels.cu:10"},
	"100 MB print":            {softmax: "	line := fmt.Sprintf(\"%1048575d\\n\", 1)\n	for range 100 {\n		fmt.Print(line)\n	}\n	return nil", imports: `"fmt"`, printed: true, says: "never written"},
	"100 MB print of kernels": {kernel: "    for (int i = 0; i < 50; i++) printf(\"%1000d\\n\", i);", printed: true, says: "never written"},
	"memory without end":      {softmax: "	var all [][]float32\n	for {\n		block := make([]float32, 1<<20)\n		for i := range block {\n			block[i] = 1\n		}\n		all = append(all, block)\n	}", says: "it took more than 0.25 GB of memory, so it was stopped"},
	"device memory":           {softmax: "	for {\n		if _, err := device.Alloc[float32](a.queue, \"more\", 1<<28); err != nil {\n			return err\n		}\n	}", says: "out of device memory"},
}

// files writes the troubled stub of task 2 into dir.
func (x trouble) files(t *testing.T, root string, task *rubric.Task, dir string) {
	t.Helper()
	dir = filepath.Join(dir, task.Dir)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	replace := func(name, find, by string) {
		text, err := os.ReadFile(filepath.Join(root, task.Dir, name))
		require.NoError(t, err)
		require.Contains(t, string(text), find)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(string(text), find, by, 1)), 0o644))
	}
	kernel := x.kernel
	if x.softmax == "" {
		x.softmax = launch
	}
	if kernel == "" {
		kernel = "    // Yours to write."
	}
	replace("kernels.cu", "    // Yours to write.", kernel)
	head := "func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {\n"
	replace("attention.go", head+"	return attn.ErrNotImplemented\n}\n", head+x.softmax+"\n}\n\n"+x.more+"\n")
	if x.imports != "" {
		text, err := os.ReadFile(filepath.Join(dir, "attention.go"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "attention.go"), []byte(strings.Replace(string(text), "import (", "import (\n	"+x.imports, 1)), 0o644))
	}
}

// neighbours says which tasks are graded beside a trouble: all where nothing is built any
// more, two where the worker goes wrong as it runs. Where there is no time for it they are two, and none.
func neighbours(name string, other *rubric.Task) bool {
	two, whole := other.Name == "1" || other.Name == "4", os.Getenv(allMutants) != ""
	if name == "compile error in Go" {
		return two || whole
	}
	return two && whole
}

// TestTroubleCostsItsTaskAlone: whatever is wrong in task 2, its points are lost
// with a message that names it, and the tasks next to it are graded as usual.
func TestTroubleCostsItsTaskAlone(t *testing.T) {
	root, task := setup(t)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	for name, x := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			x.files(t, root, task, dir)
			for _, other := range all {
				if other.Name == task.Name {
					troubled(t, root, *task, dir, x)
				} else if neighbours(name, other) {
					if len(other.Files) > 0 { // the others go by files that were copied before
						require.NoError(t, Specimen{Task: other, Base: Whole}.Write(root, dir))
					}
					first := other.Checks[0].ID + "/" + other.Checks[0].Cases[0].Name
					v := gradeOn(t, root, other, run.Submission(root, other, dir), first)
					assert.True(t, v.Full(), feedback(v))
				}
			}
		})
	}
}

func troubled(t *testing.T, root string, task rubric.Task, dir string, x trouble) {
	task.Limits.Steps = 1_000_000
	if strings.Contains(x.says, "of memory, so") {
		task.Limits.Memory = 256
	}
	if strings.HasPrefix(x.says, "no answer") {
		task.Limits.Case = 1
	}
	v := gradeOn(t, root, &task, run.Submission(root, &task, dir), "softmax/17x113")
	got, most := v.Points()
	assert.Zero(t, got)
	assert.NotZero(t, most)
	text := feedback(v)
	assert.Contains(t, text, x.says)
	assert.Equal(t, x.printed, strings.Contains(text, "printed in softmax/17x113"), text)
	assert.Less(t, len(text), 100<<10)
}
