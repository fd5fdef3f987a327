package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor"
)

// codedRows are codes of 8 bits, and what they stand for by a scale for each 64 rows.
func codedRows(r *rand.Rand, rows, dim int) (codes []int8, scales []float32, x matrix) {
	x = matrix{rows: rows, columns: dim, values: make([]float64, rows*dim)}
	for range (rows + 63) / 64 {
		scales = append(scales, float32(0.005+0.02*r.Float64()))
	}
	for i := range x.values {
		codes = append(codes, int8(r.IntN(255)-127))
		x.values[i] = float64(codes[i]) * float64(scales[i/dim/64])
	}
	return codes, scales, x
}

// TestHoppersCodes runs the kernel of bonus task b3 that takes codes by wgmma, with all checks, against
// float64.
func TestHoppersCodes(t *testing.T) {
	const solution = "../../bonus/b3_int8/solution/"
	text, err := os.ReadFile(solution + "hopper.cu")
	require.NoError(t, err)
	softmax, err := os.ReadFile(solution + "softmax.cuh")
	require.NoError(t, err)
	for _, s := range []struct {
		queries, keys, dim int
		causal             bool
	}{{1, 1, 128, false}, {200, 300, 64, true}, {130, 150, 128, false}, {200, 20, 128, true}} {
		t.Run(fmt.Sprintf("%dx%dx%d, causal %v", s.queries, s.keys, s.dim, s.causal), func(t *testing.T) {
			d := start(t, Options{Checks: AllChecks(), Workers: 1})
			m, err := d.Compile(device.Source{Name: "hopper.cu", Text: string(text), Defines: map[string]string{"DIM": strconv.Itoa(s.dim)}, Files: map[string]string{"softmax.cuh": string(softmax)}})
			require.NoError(t, err)
			kernel, err := m.Kernel("attention")
			require.NoError(t, err)
			b, r := bench{t, d, m}, rand.New(rand.NewPCG(8, 3))
			qCodes, qScale, q := codedRows(r, s.queries, s.dim)
			kCodes, kScale, k := codedRows(r, s.keys, s.dim)
			v := matrix{rows: s.keys, columns: s.dim, values: make([]float64, s.keys*s.dim)}
			for i := range v.values {
				v.values[i] = float64(r.IntN(257)-128) / 64
			}
			mapOf := func(memory device.Memory, kind tensor.Type, rows, columns, box, bytes int) device.TensorMap {
				made, err := device.NewTensorMap(memory, kind, []int{s.dim, rows, 1}, []int{columns, box, 1}, bytes)
				require.NoError(t, err)
				return made
			}
			out := alloc[uint16](b, "out", s.queries*s.dim)
			consumers := 4 - s.dim/64
			l := device.Launch{Grid: device.D1(1), Block: device.D1(128 * (consumers + 1)), Shared: 3*s.dim*(64*consumers+2*128) + 2048}
			err = d.Launch(kernel, l, mapOf(upload(b, "q", qCodes).Memory(), tensor.Int8, s.queries, s.dim, 64, s.dim),
				mapOf(upload(b, "k", kCodes).Memory(), tensor.Int8, s.keys, s.dim, 128, s.dim),
				mapOf(upload(b, "v", v.codes(half16)).Memory(), tensor.Float16, s.keys, 64, 128, 128),
				mapOf(out.Memory(), tensor.Float16, s.queries, 64, 16, 128), upload(b, "scales of q", qScale), upload(b, "scales of k", kScale),
				s.queries, s.keys, 1, 1, s.causal, float32(math.Log2E/math.Sqrt(float64(s.dim))))
			report, _ := d.Report()
			for i, f := range report.Findings {
				if i < 8 {
					assert.Fail(t, "a finding on a right kernel", "%v", f)
				}
			}
			require.NoError(t, err)
			want := attentionOf(q, k, v, s.causal, func(x float64) float64 { return x })
			// The plain mixed way's own worst error, twice: the kernel rounds where it does.
			limit := 0.0
			for i, x := range attentionOf(q, k, v, s.causal, func(x float64) float64 { return half16.value(half16.round(x, nearest)) }) {
				limit = max(limit, 2*math.Abs(x-want[i]))
			}
			for i, code := range download(b, out) {
				if diff := math.Abs(half16.value(code) - want[i]); !(diff <= limit) {
					require.Fail(t, "wrong", "out[%d] = %v, want %v within %.2g", i, half16.value(code), want[i], limit)
				}
			}
		})
	}
}
