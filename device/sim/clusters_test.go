package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

// clusterAnswers is y[0], y[100] and y[200] of the kernels that have no bug, or are compiled without it, for x[i] = i.
var clusterAnswers = map[string][3]float32{
	"swaps": {127, 27, 183}, "writes_to_it": {127, 27, 183}, "rounds_with_one_barrier": {4 * 64, 4 * (100 + 36), 4 * (136 + 200)}, "adds_up": {127 * 64, 0, 0},
	"arrives_and_waits": {127, 27, 183}, "relaxed_behind_a_fence": {64, 36, 136}, "one_block_returns": {0, 0, 0}, "through_memory": {64, 36, 136},
	"hands_over_unasked": {127, 27, 183}, "stores_unwaited": {127, 27, 183}, "fetches_for_both": {0, 36, 8}, "refills_when_told": {64, 100, 72},
	"sends_to_neighbour_without_fence": {64, 36, 136}, "adds_plainly": {64, 0, 0}, "up_to_the_end": {0, 36, 8}, "half_arrives": {0, 36, 8},
	"waits_without_arriving": {0, 0, 0}, "known_barrier": {0, 0, 0}, "waits_for_anothers": {0, 0, 0},
}

func TestBlocksOfAClusterMeet(t *testing.T) {
	for _, name := range []string{"clusters.cu", "clusters_mbarriers.cu"} {
		t.Run(name, func(t *testing.T) { clustersMeet(t, device.Source{Name: name, Text: readBugs(t, name)}) })
	}
}

func clustersMeet(t *testing.T, s device.Source) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		for _, workers := range []int{1, 4} {
			d := start(t, Options{Checks: AllChecks(), MaxSteps: 2_000_000, Timeout: 20 * time.Second, Compiler: compiler, Workers: workers})
			forEachBug(s, func(s device.Source, name string, want *trace.Finding) {
				require.NoError(t, d.Reset())
				m, err := d.Compile(s)
				require.NoError(t, err)
				x := make([]float32, 256)
				for i := range x {
					x[i] = float32(i)
				}
				b := bench{t, d, m}
				in, out := upload(b, "x", x), upload(b, "y", make([]float32, 2048))
				kernel, err := m.Kernel(name)
				require.NoError(t, err)
				launched := d.Launch(kernel, device.Launch{Grid: device.D1(4), Block: device.D1(64), Cluster: device.D1(2)}, in, out)
				r, err := d.Report()
				require.NoError(t, err)
				if want == nil {
					assert.NoError(t, launched, name)
					assert.Empty(t, r.Findings, name)
					answer, known := clusterAnswers[name]
					y := download(b, out)
					if assert.True(t, known, name) {
						assert.Equal(t, answer, [3]float32{y[0], y[100], y[200]}, name)
					}
					return
				}
				if assert.NotEmpty(t, r.Findings, "%s: want %s", name, want.Kind) {
					assert.Equal(t, want.Kind, r.Findings[0].Kind, "%s: %s", name, r.Findings[0])
					assert.Equal(t, want.Line, r.Findings[0].Line, "%s: %s", name, r.Findings[0])
					t.Logf("%s:\n%v", name, r.Findings)
				}
			})
		}
	})
}
