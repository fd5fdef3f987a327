package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// clusterAnswers is y[0], y[100] and y[200] of the kernels that have no bug, for x[i] = i.
var clusterAnswers = map[string][3]float32{
	"swaps": {127, 27, 183}, "writes_to_it": {127, 27, 183}, "rounds": {4 * 64, 4 * (100 + 36), 4 * (136 + 200)}, "adds_up": {127 * 64, 0, 0},
	"arrives_and_waits": {127, 27, 183}, "relaxed_behind_a_fence": {64, 36, 136}, "one_block_returns": {0, 0, 0}, "through_memory": {64, 36, 136},
	"hands_over": {127, 27, 183}, "stores_asynchronously": {127, 27, 183}, "fetches_for_both": {0, 36, 8}, "refills_when_told": {64, 100, 72},
	"sends_to_neighbour": {64, 36, 136}, "adds_atomically": {64, 0, 0}, "up_to_the_end": {0, 36, 8}, "all_arrive": {0, 36, 8},
	"arrives_before_it_waits": {0, 0, 0}, "known_barrier": {0, 0, 0}, "waits_for_its_own": {0, 0, 0},
}

func TestBlocksOfAClusterMeet(t *testing.T) {
	for _, name := range []string{"clusters.cu", "clusters_mbarriers.cu"} {
		t.Run(name, func(t *testing.T) { clustersMeet(t, device.Source{Name: name, Text: readBugs(t, name)}) })
	}
}

func clustersMeet(t *testing.T, s device.Source) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		want := wants(s.Text)
		for _, workers := range []int{1, 4} {
			d := start(t, Options{Checks: AllChecks(), MaxSteps: 2_000_000, Timeout: 20 * time.Second, Compiler: compiler, Workers: workers})
			m, err := d.Compile(s)
			require.NoError(t, err)
			for _, k := range device.ScanKernels(s.Text) {
				require.NoError(t, d.Reset())
				x := make([]float32, 256)
				for i := range x {
					x[i] = float32(i)
				}
				b := bench{t, d, m}
				in, out := upload(b, "x", x), upload(b, "y", make([]float32, 2048))
				kernel, err := m.Kernel(k.Name)
				require.NoError(t, err)
				launched := d.Launch(kernel, device.Launch{Grid: device.D1(4), Block: device.D1(64), Cluster: device.D1(2)}, in, out)
				r, err := d.Report()
				require.NoError(t, err)
				w, buggy := want[k.Name]
				if !buggy {
					assert.NoError(t, launched, k.Name)
					assert.Empty(t, r.Findings, k.Name)
					answer, known := clusterAnswers[k.Name]
					y := download(b, out)
					if assert.True(t, known, k.Name) {
						assert.Equal(t, answer, [3]float32{y[0], y[100], y[200]}, k.Name)
					}
					continue
				}
				if assert.NotEmpty(t, r.Findings, "%s: want %s", k.Name, w.Kind) {
					assert.Equal(t, w.Kind, r.Findings[0].Kind, "%s: %s", k.Name, r.Findings[0])
					assert.Equal(t, w.Line, r.Findings[0].Line, "%s: %s", k.Name, r.Findings[0])
					t.Logf("%s:\n%v", k.Name, r.Findings)
				}
			}
		}
	})
}
