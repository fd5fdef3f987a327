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
	text, err := os.ReadFile("../../bonus/b2_halves/solution/hopper.cu")
	require.NoError(t, err)
	shapes := []struct {
		queries, keys, dim, consumers int
		causal, brain                 bool
	}{
		{128, 128, 64, 2, false, false},
		{1, 1, 128, 2, false, false},
		{200, 300, 128, 2, true, false},
		{130, 384, 64, 3, true, true},
	}
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%dx%d by %d, causal %v, brain %v", s.queries, s.keys, s.dim, s.consumers, s.causal, s.brain), func(t *testing.T) {
			d := start(t, Options{Checks: AllChecks(), Workers: 1})
			form, kind := half16, tensor.Float16
			defines := map[string]string{"DIM": strconv.Itoa(s.dim), "CONSUMERS": strconv.Itoa(s.consumers), "AHEAD": strconv.Itoa(3 - s.consumers)}
			if s.brain {
				form, kind, defines["BRAIN"] = bfloat16, tensor.BFloat16, "1"
			}
			m, err := d.Compile(device.Source{Name: "hopper.cu", Text: string(text), Defines: defines})
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
			q, k, v := upTo(s.queries), upTo(s.keys), upTo(s.keys)
			maps := map[string]device.TensorMap{}
			for name, x := range map[string]struct {
				matrix
				rows int
			}{"q": {q, 64}, "k": {k, 128}, "v": {v, 128}} {
				buffer := upload(b, name, x.codes(form))
				maps[name], err = device.NewTensorMap(buffer.Memory(), kind, []int{s.dim, x.matrix.rows, 1}, []int{64, x.rows, 1}, 128)
				require.NoError(t, err)
			}
			out := alloc[uint16](b, "out", s.queries*s.dim)
			rows := 64 * s.consumers
			shape := device.Launch{Grid: device.D1((s.queries + rows - 1) / rows), Block: device.D1(128 * (s.consumers + 1)),
				Shared: 2*s.dim*(rows+4*128) + 2048}
			err = d.Launch(kernel, shape, maps["q"], maps["k"], maps["v"], out, s.queries, s.keys, 1, s.causal, float32(math.Log2E/math.Sqrt(float64(s.dim))))
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
			for i, x := range attentionOf(q, k, v, s.causal, func(x float64) float64 { return form.value(form.round(x, nearest)) }) {
				limit = max(limit, 2*math.Abs(x-want[i]))
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
				size := uint64(2 * 128 * 64)
				assert.Equal(t, [2]uint64{3 * size, size}, [2]uint64{c.DeviceRead, c.DeviceWritten})
				assert.InDelta(t, 4*128*128*64, float64(c.FLOPs), 0.03*4*128*128*64)
				assert.Equal(t, uint64(4*(128/64)*(64/16+128/16)), c.TensorCore, "four warps, for 64 queries and 16 numbers of a sum each")
			}
			t.Logf("worst %.2g of %.2g; read %d, written %d, flops %d", worst, limit, c.DeviceRead, c.DeviceWritten, c.FLOPs)
		})
	}
}
