package program

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/internal/cache"
)

// outcome is what a program did, as a user sees it.
type outcome struct {
	*Result
	out, err string
	shown    []trace.Finding
}

// built keeps each program of testdata: many tests run the same one.
var built = map[string]*Program{}

func build(t *testing.T, files ...string) (*Program, error) {
	t.Helper()
	key := strings.Join(files, " ")
	if p := built[key]; p != nil {
		return p, nil
	}
	dir, err := cache.Dir()
	require.NoError(t, err)
	src := sim.ProgramSource{}
	for _, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join("testdata", f)
		}
		src.Files = append(src.Files, f)
	}
	p, err := Build(sim.Options{Checks: sim.AllChecks(), Cache: dir, Workers: 2}, src)
	if err == nil {
		built[key] = p
	}
	return p, err
}

func runProgram(t *testing.T, file, input string, args ...string) (o outcome) {
	t.Helper()
	p, err := build(t, strings.Fields(file)...)
	require.NoError(t, err)
	var out, complaints bytes.Buffer
	o.Result, err = p.Run(append([]string{"prog"}, args...), Streams{strings.NewReader(input), &out, &complaints},
		func(f trace.Finding) { o.shown = append(o.shown, f) })
	require.NoError(t, err, complaints.String())
	o.out, o.err = out.String(), complaints.String()
	return o
}

// TestEveryFeature walks the programs that check themselves: each line that expects something is reached, and right.
func TestEveryFeature(t *testing.T) {
	for _, name := range []string{"right.cu", "right_host.cu"} {
		o := runProgram(t, name, "")
		assert.Zero(t, o.Code, o.out)
		assert.Empty(t, o.Report.Findings, o.out)
		assert.Empty(t, o.err)
		assert.True(t, o.Whole)
		assert.NotContains(t, o.out, "FAILED")
		assert.Equal(t, strings.Count(readTestdata(t, name), "    expect("), strings.Count(o.out, "ok "), o.out)
	}
}

func TestStreamsAndExitCodeAreTheProgramsOwn(t *testing.T) {
	o := runProgram(t, "right_host.cu", "a line\nanother\n", "argument")
	assert.Equal(t, 3, o.Code)
	assert.Contains(t, o.out, "argument a line\n")
	assert.Contains(t, o.out, "before it is seen: kernel 0.0\nkernel 0.1\n", "kernels' printf comes with the synchronisation")
}

func readTestdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

var (
	finds   = regexp.MustCompile(`// finds: (.+)$`)
	aCase   = regexp.MustCompile(`^static void (\w+)\(bool right\)`)
	planted = map[string]struct {
		line int
		kind string
	}{}
)

// TestEveryMistakeIsFoundAndNoTwin walks the cases of wrong.cu: each finds what its line says and nothing else, and its
// twin nothing.
func TestEveryMistakeIsFoundAndNoTwin(t *testing.T) {
	name := ""
	for i, line := range strings.Split(readTestdata(t, "wrong.cu"), "\n") {
		if m := aCase.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if m := finds.FindStringSubmatch(line); m != nil {
			planted[name] = struct {
				line int
				kind string
			}{i + 1, m[1]}
		}
	}
	listed := strings.Fields(runProgram(t, "wrong.cu", "").out)
	require.Len(t, listed, len(planted), "every case has a finding, and the program knows it")
	for _, name := range listed {
		want := planted[name]
		got := runProgram(t, "wrong.cu", "", name)
		var host []trace.Finding
		for _, f := range got.Report.Findings {
			if f.Check == "host" {
				host = append(host, f)
			}
		}
		if assert.Len(t, host, 1, "%s: %v", name, got.Report.Findings) {
			f := host[0]
			assert.Equal(t, "wrong.cu", f.File, name)
			assert.Equal(t, want.line, f.Line, "%s: %s", name, f)
			assert.Equal(t, want.kind, f.Kind, "%s: %s", name, f)
			assert.NotEmpty(t, f.Source, name)
		}
		assert.Len(t, got.shown, len(got.Report.Findings), name)
		assert.True(t, got.Whole, name)
		twin := runProgram(t, "wrong.cu", "", name, "right")
		assert.Empty(t, twin.Report.Findings, "%s's twin", name)
		assert.Zero(t, twin.Code, name)
	}
}

func TestAFaultStays(t *testing.T) {
	o := runProgram(t, "wrong.cu", "", "kernelOutOfBounds")
	assert.Zero(t, o.Code, "each call says the same error, and cudaDeviceSynchronize is the first")
	require.Len(t, o.Report.Findings, 1)
	f := o.Report.Findings[0]
	assert.Equal(t, "out of bounds", f.Kind)
	assert.Equal(t, "increment", f.Kernel)
	assert.Contains(t, f.Message, "x[32]")
	assert.Contains(t, f.Source, "x[threadIdx.x] += 1")
	assert.Empty(t, runProgram(t, "wrong.cu", "", "kernelOutOfBounds", "right").Report.Findings)
}

func TestNotes(t *testing.T) {
	o := runProgram(t, "wrong.cu", "", "leak")
	assert.Empty(t, o.Report.Findings)
	require.Len(t, o.Report.Notes, 1)
	assert.Equal(t, "leak", o.Report.Notes[0].Kind)

	o = runProgram(t, "wrong.cu", "", "unchecked")
	var kinds []string
	for _, n := range o.Report.Notes {
		kinds = append(kinds, n.Kind)
	}
	assert.ElementsMatch(t, []string{"refused launch", "unchecked error"}, kinds)
}

func TestSeveralFiles(t *testing.T) {
	o := runProgram(t, "two.cpp two_kernels.cu two_device.cu", "")
	assert.Zero(t, o.Code)
	assert.Equal(t, "2 16\n", o.out)
	assert.Empty(t, o.Report.Findings)

	p, err := build(t, "two.cpp", "two_kernels.cu")
	require.NoError(t, err)
	var complaints bytes.Buffer
	_, err = p.Run([]string{"prog"}, Streams{strings.NewReader(""), &complaints, &complaints}, func(trace.Finding) {})
	assert.ErrorIs(t, err, ErrNotLoaded)
	assert.Contains(t, complaints.String(), "nothing defines twice(int)")
}

func TestWhatIsNotServedIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"#include <cufft.h>\nint main() {}\n":                         "p.cu:1:10: error: there is no cufft.h",
		"int main() {\n    cudaGraph_t g;\n    return 0;\n}\n":        "p.cu:2:5: error: flashlab-run does not serve cudaGraph_t",
		"int main() {\n    cudaGraphLaunch(0, 0);\n}\n":               "p.cu:2:5: error: flashlab-run does not serve cudaGraphLaunch",
		"int main() {\n    int x = \"a\";\n    return x;\n}\n":        "p.cu:2:", // each compiler has its own words
		"__global__ void k() {}\nint main() {\n    k<<<1, 2>>>;\n}\n": "p.cu:3: error: this launch was not understood",
		"__global__ void k(int *p) {\n    __shared__ int x[20000];\n    x[threadIdx.x] = 1;\n    __syncthreads();\n" +
			"    *p = x[5];\n}\nint main() {\n    k<<<1, 9>>>(nullptr);\n}\n": "a static __shared__ array of 80000 bytes",
	} {
		file := filepath.Join(t.TempDir(), "p.cu")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, err := build(t, file)
		assert.ErrorContains(t, err, want, text)
	}
}
