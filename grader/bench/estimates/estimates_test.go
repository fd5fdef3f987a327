package estimates

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/estimate"
	"flashlab/grader/grading/race"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// What was reached: the median error, and the worst factor.
const mostMedian, mostOff = 0.25, 4.0

// The page, and the constants in use, are what the rungs give.
func TestThePageAndTheConstantsAreFitted(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	rungs, err := Load(root)
	require.NoError(t, err)
	g, err := estimate.Find("H200")
	require.NoError(t, err)
	again := "run go run ./grader/bench/estimates/program, and copy the constants that it prints"
	if runtime.GOARCH != "amd64" {
		t.Skip("another processor's fused multiply-adds lead the fit to other numbers")
	}
	for i, want := range FitAll(g, rungs) {
		assert.InEpsilon(t, want, estimate.Fitted[i], 0.01, "constant %d: %s", i, again)
	}
	all := HoldOut(g, rungs)
	text, err := os.ReadFile(filepath.Join(root, PageFile))
	require.NoError(t, err)
	assert.Equal(t, string(text), Page(all), again)

	// How near they are, each without its own ladder: what was reached, so that no change makes it worse unseen.
	median, worst := Errors(all)
	assert.LessOrEqual(t, median, mostMedian)
	assert.LessOrEqual(t, worst, mostOff)
}

// A workload that is made smaller keeps all sizes but the number of its sequences or rows.
func TestOnlyTheNumberOfSequencesFalls(t *testing.T) {
	for op, c := range map[string]struct {
		shape, counted []int
		times          float64
	}{
		"flash":   {[]int{4, 32, 2048, 2048, 128}, []int{1, 32, 2048, 2048, 128}, 4},
		"decode":  {[]int{16, 32, 32, 4096, 128}, []int{2, 32, 32, 4096, 128}, 8},
		"softmax": {[]int{65536, 4096, 1}, []int{4096, 4096, 1}, 16},
		"gemm_nn": {[]int{1, 2048, 2048, 2048}, []int{1, 2048, 2048, 2048}, 1},
	} {
		fewer, times, err := race.Workload{Op: op, Shape: c.shape}.Fewer(rooms.Ops)
		require.NoError(t, err)
		assert.Equal(t, c.counted, fewer.Shape, op)
		assert.Equal(t, c.times, times, op)
	}
}
