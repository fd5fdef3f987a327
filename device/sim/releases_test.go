package sim

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

//go:embed testdata/releases.cu
var releaseKernels string

// A fence and an atomic hand over what the block did before its last barrier, and what the
// atomic's own warp did since: each planted bug is found, each right twin gets no finding.
func TestWhatAnAtomicHandsOver(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		for _, workers := range []int{1, 2} {
			for _, k := range device.ScanKernels(releaseKernels) {
				d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Workers: workers})
				r := ofTwoBlocks(t, d, device.Source{Name: "releases.cu", Text: releaseKernels}, k.Name)
				if len(marked(releaseKernels, "want", k.Name)) == 0 {
					assert.Empty(t, r.Findings, k.Name)
				} else if assert.Len(t, r.Findings, 1, "%s with %d workers", k.Name, workers) {
					assert.Equal(t, "race", r.Findings[0].Kind)
					assert.Contains(t, r.Findings[0].String(), "put a __syncthreads() between the block's writes and the atomic")
				}
			}
		}
	})
}
