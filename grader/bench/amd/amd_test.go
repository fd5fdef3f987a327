package amd

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

const remarks = `a.cu:7:1: remark: Function Name: softmax [-Rpass-analysis=kernel-resource-usage]
extern "C" __global__ void softmax(const float *x, float *y) {
^
a.cu:7:1: remark:     SGPRs: 6 [-Rpass-analysis=kernel-resource-usage]
a.cu:7:1: remark:     VGPRs: 226 [-Rpass-analysis=kernel-resource-usage]
a.cu:7:1: remark:     AGPRs: 4 [-Rpass-analysis=kernel-resource-usage]
a.cu:7:1: remark:     ScratchSize [bytes/lane]: 144 [-Rpass-analysis=kernel-resource-usage]
a.cu:7:1: remark:     Occupancy [waves/SIMD]: 2 [-Rpass-analysis=kernel-resource-usage]
a.cu:7:1: remark:     VGPRs Spill: 9 [-Rpass-analysis=kernel-resource-usage]
a.cu:7:1: remark:     LDS Size [bytes/block]: 33792 [-Rpass-analysis=kernel-resource-usage]
a.cu:12:1: remark: Function Name: _Z4copyPf [-Rpass-analysis=kernel-resource-usage]
a.cu:12:1: remark:     VGPRs: 2 [-Rpass-analysis=kernel-resource-usage]
`

const verbose = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'softmax' for 'sm_90a'
ptxas info    : Function properties for softmax
    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 119 registers, used 1 barriers, 33792 bytes smem
ptxas info    : Compile time = 1.000 ms
`

func TestWhatCompilersSay(t *testing.T) {
	c := readHIP(remarks, nil)
	assert.Equal(t, []string{"softmax", "_Z4copyPf"}, c.Kernels)
	assert.Equal(t, Use{Registers: 230, Shared: 33792, Scratch: 144, Waves: 2}, c.Uses["softmax"])
	assert.Equal(t, Use{Registers: 2}, c.Uses["_Z4copyPf"])
	c = readNVCC(verbose, nil)
	assert.Equal(t, []string{"softmax"}, c.Kernels)
	assert.Equal(t, Use{Registers: 119, Shared: 33792, Scratch: 8}, c.Uses["softmax"])
	failed := errors.New("exit status 1")
	for text, want := range map[string]string{
		"error: local memory (65664) exceeds limit (65536) in function 'flash'\n1 error generated": "local memory (65664) exceeds limit (65536) in function 'flash'",
		"a.cu:3:2: error: unknown type\n":                    "unknown type",
		"a.cu:1:10: fatal error: 'mma.h' file not found\n":   "'mma.h' file not found",
		"ptxas error   : Entry function 'f' uses too much\n": "Entry function 'f' uses too much",
		"killed\n": "exit status 1",
	} {
		assert.Equal(t, want, readHIP(text, failed).Failed)
	}
}

// TestThePageHasEveryRung: a rung that comes anew belongs into the table, or among those that are left out.
func TestThePageHasEveryRung(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	tasks, err = rubric.WithWarmUp(root, tasks)
	require.NoError(t, err)
	all, err := sources(root, t.TempDir(), tasks)
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "amd.md"))
	require.NoError(t, err)
	out, reasons := 0, map[string]int{}
	for _, s := range all {
		why, err := s.not()
		require.NoError(t, err)
		row := "| " + Result{Task: s.task.Name, Name: s.name}.Title() + " |"
		if why != "" {
			out++
			reasons[why]++
			row = Result{Task: s.task.Name, Name: s.name}.Title() + " (" + why + ")"
		}
		assert.Contains(t, string(page), row, "run make hip-check PAGE=1")
	}
	assert.Greater(t, len(all), 40)
	assert.Greater(t, len(all)-out, out, "most rungs have neither")
	assert.Len(t, reasons, 2)
}

func TestTheTableGoesBetweenItsMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "amd.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"+begins+"old\n"+ends+"after\n"), 0o644))
	hip, cu := readHIP(remarks, nil), readNVCC(verbose, nil)
	all := []Result{
		{Task: "2", Name: "4_quads/kernels.cu", Chips: []Compiled{hip, hip}, NVCC: &cu},
		{Task: "4", Name: "2_shared/kernels.cu", Chips: []Compiled{{Failed: "too | much"}, hip}},
		{Task: "4", Name: "kernels.cu", Not: "tensor cores"},
	}
	require.NoError(t, Write(file, Table(all, "By two compilers.")))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, want := range []string{
		"before\n" + begins, ends + "after\n",
		"| task 2, version 4, quads | `softmax` | 230 | 33792 | 144 | 2 | 230 | 33792 | 144 | 2 | 119 | 33792 | 8 |\n",
		"|  | `copyPf` | 2 | 0 | 0 | 0 |",
		"| task 4, version 2, shared | `softmax` | too / much | | | | 230 |",
		"no nvcc here | | |\n",
		"Left out, because they use what no AMD GPU has: task 4, `kernels.cu` (tensor cores).",
	} {
		assert.Contains(t, string(text), want)
	}
	assert.NotContains(t, string(text), "old")
	assert.Equal(t, "2 of 2 files", Summary(append(all[:1:1], all[0], all[2]))[:len("2 of 2 files")])
	assert.True(t, Failed(all))
	require.NoError(t, os.WriteFile(file, []byte("no marks\n"), 0o644))
	assert.ErrorContains(t, Write(file, "x"), "has lost the lines")
}
