package devicetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// One head's parts, which a warp merges: a row has DIM numbers, the largest score, the sum.
const mergeParts = `#include <split.h>
extern "C" __global__ void merged(const float *parts, int pitch, int n, float *out) {
    const auto all = merge<DIM, TOGETHER>(parts, pitch, n, [](float x) { return exp2f(x); });
    const float4 y = all.output();
    if (threadIdx.x < DIM / 4) reinterpret_cast<float4 *>(out)[threadIdx.x] = y;
}`

// mergesParts holds split.h against the same sum in float64, with parts that have no key, and with scores
// whose powers alone would overflow. The simulator errs by 5e-8 at most; the bound is five times that.
func mergesParts(t *testing.T, b bench) {
	const dim, pitch = 64, 68
	rng := rand.New(rand.NewPCG(7, 7))
	for _, together := range []string{"8", "16"} {
		m, err := b.Compile(device.Source{Name: "split.cu", Text: mergeParts, Defines: map[string]string{"DIM": "64", "TOGETHER": together}})
		require.NoError(t, err)
		b.module = m
		for _, n := range []int{0, 1, 2, 15, 16, 17, 33, 100} {
			for _, without := range []float64{0, 0.5, 1} { // the share of parts without a key
				parts, want := make([]float32, n*pitch), make([]float64, dim)
				most, weights := math.Inf(-1), 0.0
				for i := range n {
					row := parts[i*pitch : (i+1)*pitch]
					row[dim] = float32(math.Inf(-1))
					if rng.Float64() < without {
						continue
					}
					for c := range dim {
						row[c] = rng.Float32() - 0.5
					}
					row[dim], row[dim+1] = 400*rng.Float32()-200, 1+rng.Float32()
					most = max(most, float64(row[dim]))
				}
				for i := range n {
					if row := parts[i*pitch:]; !math.IsInf(float64(row[dim]), -1) {
						by := math.Exp2(float64(row[dim]) - most)
						weights += by * float64(row[dim+1])
						for c := range dim {
							want[c] += by * float64(row[c])
						}
					}
				}
				in, out := upload(t, b, "parts", append(parts, 0)), upload(t, b, "out", poison(dim))
				b.launch(t, "merged", device.Launch{Grid: device.D1(1), Block: device.D1(32)}, in, pitch, n, out)
				for c, got := range download(t, b, out) {
					if weights > 0 {
						want[c] /= weights
					}
					assert.InDelta(t, want[c], got, 2.5e-7, "%d parts, %s together: number %d", n, together, c)
				}
			}
		}
	}
}

func poison(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}
