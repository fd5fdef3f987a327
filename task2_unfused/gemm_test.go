package unfused

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/tensor"
)

func TestGemm(t *testing.T) {
	d, a := start(t)
	gemm(t, d, a, []float32{1}, []float32{1}, attn.GemmShape{Batch: 1, M: 1, N: 1, K: 1}) // is anything written yet?
	t.Run("by_hand", func(t *testing.T) { checkProductsByHand(t, d, a) })
	t.Run("random", func(t *testing.T) { checkProducts(t, d, a) })
}

func checkProductsByHand(t *testing.T, d device.Device, a *Attention) {
	for _, c := range []struct {
		name    string
		s       attn.GemmShape
		x, y, c []float32
		hint    string
	}{
		{"one_element", attn.GemmShape{Batch: 1, M: 1, N: 1, K: 1}, []float32{3}, []float32{4}, []float32{12},
			"3 times 4"},
		{"dot_product", attn.GemmShape{Batch: 1, M: 1, N: 1, K: 3}, []float32{1, 2, 3}, []float32{4, 5, 6}, []float32{32},
			"1·4 + 2·5 + 3·6"},
		{"matrix", attn.GemmShape{Batch: 1, M: 2, N: 2, K: 2}, []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}, []float32{19, 22, 43, 50},
			"a row of x meets a column of y: 1·5 + 2·7 = 19"},
		{"transposed", attn.GemmShape{Batch: 1, M: 2, N: 2, K: 2, TransB: true}, []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}, []float32{17, 23, 39, 53},
			"y is stored transposed, so a row of x meets a row of y: 1·5 + 2·6 = 17"},
		{"not_square", attn.GemmShape{Batch: 1, M: 1, N: 2, K: 3}, []float32{1, 10, 100}, []float32{1, 2, 3, 4, 5, 6}, []float32{531, 642},
			"y is [3, 2] here: its columns are 1, 3, 5 and 2, 4, 6"},
		{"two_of_a_batch", attn.GemmShape{Batch: 2, M: 1, N: 1, K: 2, TransB: true}, []float32{1, 1, 2, 2}, []float32{3, 4, 5, 6}, []float32{7, 22},
			"each batch has its own matrices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := gemm(t, d, a, c.x, c.y, c.s)
			if !slices.Equal(got, c.c) { // whole numbers: no rounding
				t.Errorf("product of %v\n  x    = %v\n  y    = %v\n  got  = %v\n  want = %v\n  hint: %s%s",
					c.s, c.x, c.y, got, c.c, c.hint, attntest.Unwritten(got))
			}
		})
	}
}

// checkProducts computes every element again, one at a time.
func checkProducts(t *testing.T, d device.Device, a *Attention) {
	for _, s := range []attn.GemmShape{
		{Batch: 1, M: 16, N: 16, K: 16},
		{Batch: 1, M: 17, N: 33, K: 5, TransB: true},
		{Batch: 2, M: 5, N: 70, K: 19},
		{Batch: 3, M: 65, N: 2, K: 40, TransB: true},
		{Batch: 1, M: 1, N: 300, K: 3},
	} {
		t.Run(tensor.ShapeString([]int{s.Batch, s.M, s.N, s.K}), func(t *testing.T) {
			x, err := tensor.Random(tensor.Uniform, 4, 0, s.Batch*s.M*s.K)
			require.NoError(t, err)
			y, err := tensor.Random(tensor.Uniform, 4, 1, s.Batch*s.K*s.N)
			require.NoError(t, err)
			got := gemm(t, d, a, x.Data, y.Data, s)
			for i, g := range got {
				batch, m, n := i/(s.M*s.N), i/s.N%s.M, i%s.N
				want := 0.0
				for k := range s.K {
					at := (batch*s.K+k)*s.N + n
					if s.TransB {
						at = (batch*s.N+n)*s.K + k
					}
					want += float64(x.Data[(batch*s.M+m)*s.K+k]) * float64(y.Data[at])
				}
				if !(math.Abs(float64(g)-want) <= 1e-4) { // true for NaN
					t.Errorf("product of %v: element [%d][%d][%d] is %.6g, want %.6g%s", s, batch, m, n, g, want, attntest.Unwritten(got))
					return
				}
			}
		})
	}
}

// gemm runs the student's code once and returns what it wrote.
func gemm(t *testing.T, d device.Device, a *Attention, x, y []float32, s attn.GemmShape) []float32 {
	t.Helper()
	left, right := attntest.Input(t, d, "x", x), attntest.Input(t, d, "y", y)
	c := attntest.Output(t, d, "c", s.Batch*s.M*s.N)
	err := a.Gemm(c, left, right, s)
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatal("not implemented: Gemm in attention.go is still the stub (README.md says where to start)")
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "product of %v: %v", s, err)
	}
	got, err := c.CopyOut(d)
	require.NoError(t, err)
	attntest.Findings(t, d)
	return got
}
