package nn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/tasks/shared"
	flash "flashlab/task4_flash"
)

func startFlash(t *testing.T) (device.Device, *Flash) {
	t.Helper()
	d := attntest.Device(t)
	f, err := NewFlash(device.QueueOf(d))
	if err != nil && d.Info().Arch != "sim" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return d, f
}

// One Flash runs them all, so that scratch grows, and later calls find more than they need.
func TestFlash(t *testing.T) {
	d, f := startFlash(t)
	for _, c := range []struct {
		name  string
		s     attn.Shape
		scale func(i int) float64 // of q's and v's row i
	}{
		{"one", attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1}, nil},
		{"grouped heads", attn.Shape{Batch: 2, Heads: 4, KVHeads: 2, SeqQ: 17, SeqK: 113}, nil},
		{"two tiles of both", attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 150, SeqK: 260}, nil},
		{"causal", attn.Shape{Batch: 1, Heads: 2, KVHeads: 1, SeqQ: 130, SeqK: 200, Causal: true}, nil},
		{"queries that see no key", attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 140, SeqK: 7, Causal: true}, nil},
		{"values that grow", attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 9, SeqK: 300}, func(i int) float64 { return math.Ldexp(1, i/10) }},
		{"values that shrink", attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 9, SeqK: 300}, func(i int) float64 { return math.Ldexp(1, -i/10) }},
		{"tiny", attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 3, SeqK: 5}, func(int) float64 { return 1e-30 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Dim = flashDim
			q, k, v := normal(t, c.s.QElements()), normal(t, c.s.KVElements()), normal(t, c.s.KVElements())
			if c.scale != nil {
				for i := range v {
					v[i] *= float32(c.scale(i / flashDim))
				}
			}
			out := output[float32](t, d, "out", len(q))
			require.NoError(t, f.Run(out, on(t, d, "q", q), on(t, d, "k", k), on(t, d, "v", v), c.s))
			near(t, c.s.String(), read(t, d, out), shared.AttentionTruth(q, k, v, c.s))
		})
	}
}

// Its tiles are larger than task 4's, and its sums are not: so the errors are the same.
func TestFlashIsAsExactAsTask4(t *testing.T) {
	d, f := startFlash(t)
	theirs, err := flash.New(d)
	require.NoError(t, err)
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 64, SeqK: 512, Dim: flashDim}
	q, k, v := normal(t, s.QElements()), normal(t, s.KVElements()), normal(t, s.KVElements())
	want := shared.AttentionTruth(q, k, v, s).Want
	var squares [2]float64
	for i, kernel := range []attn.Kernel{f, theirs} {
		out := output[float32](t, d, "out", len(q))
		if err := kernel.Run(out, on(t, d, "q", q), on(t, d, "k", k), on(t, d, "v", v), s); i == 1 && err != nil {
			t.Skip(err) // a stub
		} else {
			require.NoError(t, err)
		}
		for j, x := range read(t, d, out) {
			squares[i] += (float64(x) - want[j]) * (float64(x) - want[j])
		}
	}
	assert.LessOrEqual(t, math.Sqrt(squares[0]), 1.05*math.Sqrt(squares[1]))
}

// What is not a number goes nowhere but where it is seen.
func TestFlashKeepsNaN(t *testing.T) {
	d, f := startFlash(t)
	s := attn.Shape{Batch: 1, Heads: 2, KVHeads: 1, SeqQ: 20, SeqK: 20, Dim: flashDim}
	q, k, v := normal(t, s.QElements()), normal(t, s.KVElements()), normal(t, s.KVElements())
	q[3*flashDim+5] = float32(math.NaN())
	q[(20+10)*flashDim] = float32(math.Inf(1))
	out := output[float32](t, d, "out", len(q))
	require.NoError(t, f.Run(out, on(t, d, "q", q), on(t, d, "k", k), on(t, d, "v", v), s))
	for i, x := range read(t, d, out) {
		row, head := i/flashDim%20, i/flashDim/20
		bad := head == 0 && row == 3 || head == 1 && row/8 == 1 // an infinity takes its eight rows along
		assert.Equal(t, bad, math.IsNaN(float64(x)), "head %d, row %d", head, row)
	}
}

func TestFlashRefuses(t *testing.T) {
	d, f := startFlash(t)
	for name, c := range map[string]struct {
		s    attn.Shape
		says string
	}{
		"another dimension": {attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: 64}, "heads of 128 numbers only"},
		"a window":          {attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: flashDim, Causal: true, Window: 1}, "no window"},
	} {
		t.Run(name, func(t *testing.T) {
			x := on(t, d, "x", make([]float32, c.s.Dim))
			assert.ErrorContains(t, f.Run(output[float32](t, d, "out", c.s.Dim), x, x, x, c.s), c.says)
		})
	}
}

// BenchmarkAttention has flash.cu beside task 4's kernel: the solution's, with the solutions laid over.
func BenchmarkAttention(b *testing.B) {
	d := start(b)
	if d.Info().Kind == device.Sim {
		b.Skip(device.ErrNoClock)
	}
	ours, err := NewFlash(d)
	if err != nil {
		b.Skip(err)
	}
	theirs, err := flash.New(d)
	require.NoError(b, err)
	for _, s := range []attn.Shape{
		{Batch: 4, Heads: 32, KVHeads: 32, SeqQ: 2048, SeqK: 2048, Dim: 128},
		{Batch: 64, Heads: 32, KVHeads: 32, SeqQ: 4096, SeqK: 4096, Dim: 128},
	} {
		q, k, v := noise(b, d, "q", s.QElements()), noise(b, d, "k", s.KVElements()), noise(b, d, "v", s.KVElements())
		out := output[float32](b, d, "out", s.QElements())
		for _, causal := range []bool{false, true} {
			s.Causal = causal
			flops := 4 * float64(s.QElements()) * float64(s.SeqK)
			if causal {
				flops /= 2
			}
			for _, k1 := range []struct {
				name string
				attn.Kernel
			}{{"flash.cu", ours}, {"task4", theirs}} {
				b.Run(fmt.Sprintf("%dx%d/causal=%v/%s", s.Batch, s.SeqQ, causal, k1.name), func(b *testing.B) {
					measure(b, d, 0, flops, func(int) error { return k1.Run(out, q, k, v, s) })
				})
			}
		}
		for _, x := range []Floats{q, k, v, out} {
			require.NoError(b, x.Free(d))
		}
	}
}
