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
	"flashlab/device/devicetest"
	"flashlab/tensor"
)

func TestHoppersInstructionsHaveNoFindings(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	devicetest.Hopper(t, func(*testing.T) device.Device { return d })
	r, err := d.Report()
	require.NoError(t, err)
	assert.Empty(t, r.Findings)
	for _, c := range r.Launches {
		if c.Kernel == "ring" { // 4 KB in, and out again
			assert.Equal(t, [4]uint64{4096, 4096, 4096, 4096}, [4]uint64{c.GlobalRead, c.GlobalWritten, c.DeviceRead, c.DeviceWritten})
		}
	}
}

// attentionOf is one head in float64: what hopper.cu should give. narrow rounds what tensor
// cores take, a probability before it is divided, and the output.
func attentionOf(q, k, v matrix, causal bool, narrow func(float64) float64) []float64 {
	n, m, dim := q.rows, k.rows, q.columns
	out := make([]float64, n*dim)
	for i := range n {
		seen := m
		if causal {
			seen = max(m-n+i+1, 0)
		}
		scores, largest, sum := make([]float64, seen), math.Inf(-1), 0.0
		for j := range scores {
			for d := range dim {
				scores[j] += q.values[i*dim+d] * k.values[j*dim+d]
			}
			scores[j] /= math.Sqrt(float64(dim))
			largest = max(largest, scores[j])
		}
		for j := range scores {
			scores[j] = math.Exp(scores[j] - largest)
			sum += scores[j]
		}
		for j, p := range scores {
			for d := range dim {
				out[i*dim+d] += narrow(p) / sum * v.values[j*dim+d]
			}
		}
	}
	for i, x := range out {
		out[i] = narrow(x)
	}
	return out
}

// TestHoppersAttention runs the bonus task's kernel, which brings tiles by the copy engine and
// multiplies by wgmma, with all checks, against float64.
func TestHoppersAttention(t *testing.T) {
	const solution = "../../bonus/b2_halves/solution/"
	text, err := os.ReadFile(solution + "hopper.cu")
	require.NoError(t, err)
	softmax, err := os.ReadFile(solution + "softmax.cuh")
	require.NoError(t, err)
	shapes := []struct {
		queries, keys, dim, heads int
		causal, brain, rising     bool
	}{
		{queries: 128, keys: 128, dim: 128, heads: 1},
		{queries: 1, keys: 1, dim: 128, heads: 1},
		{queries: 200, keys: 300, dim: 128, heads: 2, causal: true}, // of two heads, a long and a short tile each
		{queries: 130, keys: 384, dim: 64, heads: 1, causal: true, brain: true},
		{queries: 450, keys: 450, dim: 64, heads: 1, causal: true},  // three tiles, and one of keys that a warpgroup sees nothing of
		{queries: 300, keys: 150, dim: 128, heads: 1, causal: true}, // the first 150 rows see no key
		// The keys that come last have scores of another size: what was the largest no longer fits.
		{queries: 70, keys: 384, dim: 128, heads: 1, rising: true},
		{queries: 70, keys: 384, dim: 64, heads: 1, brain: true, rising: true},
	}
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%dx%d, %d heads, causal %v, brain %v, rising %v", s.queries, s.keys, s.dim, s.heads, s.causal, s.brain, s.rising), func(t *testing.T) {
			d := start(t, Options{Checks: AllChecks(), Workers: 1})
			form, kind := half16, tensor.Float16
			defines := map[string]string{"DIM": strconv.Itoa(s.dim)}
			if s.brain {
				form, kind, defines["BRAIN"] = bfloat16, tensor.BFloat16, "1"
			}
			m, err := d.Compile(device.Source{Name: "hopper.cu", Text: string(text), Defines: defines, Files: map[string]string{"softmax.cuh": string(softmax)}})
			require.NoError(t, err)
			kernel, err := m.Kernel("attention")
			require.NoError(t, err)
			b := bench{t, d, m}
			r := rand.New(rand.NewPCG(18, 4))
			upTo := func(rows int) matrix {
				x := matrix{rows: rows, columns: s.dim, values: make([]float64, rows*s.dim)}
				for i := range x.values {
					x.values[i] = float64(r.IntN(257)-128) / 64
				}
				return x
			}
			q, k, v := upTo(s.heads*s.queries), upTo(s.heads*s.keys), upTo(s.heads*s.keys)
			for i := 0; s.rising && i < s.keys/2*s.dim; i++ {
				k.values[i] *= 8
			}
			boxes := func(memory device.Memory, rows, box int) device.TensorMap {
				made, err := device.NewTensorMap(memory, kind, []int{s.dim, rows, s.heads}, []int{64, box, 1}, 128)
				require.NoError(t, err)
				return made
			}
			qs, ks, vs := upload(b, "q", q.codes(form)), upload(b, "k", k.codes(form)), upload(b, "v", v.codes(form))
			out := alloc[uint16](b, "out", s.heads*s.queries*s.dim)
			consumers := 4 - s.dim/64
			// One block takes all tiles, as it does on a GPU with more of them than multiprocessors.
			shape := device.Launch{Grid: device.D1(1), Block: device.D1(128 * (consumers + 1)), Shared: 2*s.dim*(2*64*consumers+4*128) + 2048}
			err = d.Launch(kernel, shape, boxes(qs.Memory(), s.queries, 64), boxes(ks.Memory(), s.keys, 128), boxes(vs.Memory(), s.keys, 128),
				boxes(out.Memory(), s.queries, 16), s.queries, s.keys, s.heads, 1, s.causal, float32(math.Log2E/math.Sqrt(float64(s.dim))))
			report, _ := d.Report()
			for i, f := range report.Findings {
				if i < 8 {
					assert.Fail(t, "a finding on a right kernel", "%v", f)
				}
			}
			require.NoError(t, err)
			head := func(x matrix, rows, h int) matrix {
				return matrix{rows: rows, columns: s.dim, values: x.values[h*rows*s.dim : (h+1)*rows*s.dim]}
			}
			var want []float64
			limit := 0.0 // the plain mixed way's own worst error, twice: the kernel rounds where it does
			for h := range s.heads {
				q, k, v := head(q, s.queries, h), head(k, s.keys, h), head(v, s.keys, h)
				exact := attentionOf(q, k, v, s.causal, func(x float64) float64 { return x })
				for i, x := range attentionOf(q, k, v, s.causal, func(x float64) float64 { return form.value(form.round(x, nearest)) }) {
					limit = max(limit, 2*math.Abs(x-exact[i]))
				}
				want = append(want, exact...)
			}
			worst := 0.0
			for i, code := range download(b, out) {
				diff := math.Abs(form.value(code) - want[i])
				if !(diff <= limit) {
					require.Fail(t, "wrong", "out[%d] = %v, want %v within %.2g", i, form.value(code), want[i], limit)
				}
				worst = max(worst, diff)
			}
			c := report.Launches[0]
			if s.queries == 128 { // each number moves once; the two products, and a little for the softmax
				size := uint64(2 * 128 * 128)
				assert.Equal(t, [2]uint64{3 * size, size}, [2]uint64{c.DeviceRead, c.DeviceWritten})
				assert.InDelta(t, 4*128*128*128, float64(c.FLOPs), 0.03*4*128*128*128)
				assert.Equal(t, uint64(4*(128/64)*(128/16+128/16)), c.TensorCore, "four warps, for 64 queries and 16 numbers of a sum each")
			}
			t.Logf("worst %.2g of %.2g; read %d, written %d, flops %d", worst, limit, c.DeviceRead, c.DeviceWritten, c.FLOPs)
		})
	}
}
