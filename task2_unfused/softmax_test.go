package unfused

// The public checks: `go test ./task2_unfused`. They are few and small, so that
// you can follow each by hand; `make grade TASK=2` has more and larger ones.

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

var negInf = float32(math.Inf(-1))

// ln lists the logarithms of its arguments: exp turns them back into numbers that
// are easy to add up by hand.
func ln(values ...float64) []float32 {
	logs := make([]float32, len(values))
	for i, v := range values {
		logs[i] = float32(math.Log(v))
	}
	return logs
}

func TestSoftmax(t *testing.T) {
	d, a := start(t)
	softmax(t, d, a, []float32{0}, attn.SoftmaxShape{Outer: 1, Len: 1, Inner: 1}) // is anything written yet?
	t.Run("by_hand", func(t *testing.T) { checkByHand(t, d, a) })
	t.Run("long_rows", func(t *testing.T) { checkLongRows(t, d, a) })
}

// checkByHand compares with values that you can work out by hand.
func checkByHand(t *testing.T, d device.Device, a *Attention) {
	last := func(outer, length int) attn.SoftmaxShape {
		return attn.SoftmaxShape{Outer: outer, Len: length, Inner: 1}
	}

	for _, c := range []struct {
		name string
		s    attn.SoftmaxShape
		x, y []float32
		hint string
	}{
		{"one_element", last(1, 1), []float32{5}, []float32{1},
			"a row of one element has nothing to share: its softmax is 1"},
		{"one_row", last(1, 4), ln(1, 2, 3, 4), []float32{0.1, 0.2, 0.3, 0.4},
			"the exponentials are 1, 2, 3 and 4, and their sum is 10"},
		{"equal_values", last(1, 5), []float32{7, 7, 7, 7, 7}, []float32{0.2, 0.2, 0.2, 0.2, 0.2},
			"equal values share the row equally, whatever they are"},
		{"two_rows", last(2, 3), append(ln(1, 1, 2), ln(5, 3, 2)...), []float32{0.25, 0.25, 0.5, 0.5, 0.3, 0.2},
			"each row is a separate softmax: row 1 starts at x[3]"},
		{"large_values", last(2, 3), []float32{1000, 1000, 0, -1000, -1000, -1000}, []float32{0.5, 0.5, 0, 1. / 3, 1. / 3, 1. / 3},
			"exp(1000) overflows and exp(-1000) is 0: subtract the row's maximum first"},
		{"masked", last(1, 4), []float32{negInf, 0, negInf, 0}, []float32{0, 0.5, 0, 0.5},
			"exp(-Inf) is 0; only -Inf minus -Inf would be NaN"},
		{"second_last_dimension", attn.SoftmaxShape{Outer: 1, Len: 2, Inner: 3}, append(ln(1, 3, 5), ln(1, 1, 5)...), []float32{0.5, 0.75, 0.5, 0.5, 0.25, 0.5},
			"a row runs down a column here: its elements are Inner apart"},
		{"second_last_of_three", attn.SoftmaxShape{Outer: 2, Len: 2, Inner: 2}, ln(1, 1, 3, 4, 2, 1, 2, 1), []float32{0.25, 0.2, 0.75, 0.8, 0.5, 0.5, 0.5, 0.5},
			"element i of row (o, j) is at index (o·Len + i)·Inner + j"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := softmax(t, d, a, c.x, c.s)
			for i, want := range c.y {
				if math.Abs(float64(got[i]-want)) <= 1e-6 { // false for NaN
					continue
				}
				t.Errorf("softmax of %v\n  x    = %v\n  got  = %v\n  want = %v\n  hint: %s%s",
					c.s, c.x, got, c.y, c.hint, attntest.Unwritten(got))
				return
			}
		})
	}
}

// checkLongRows needs no expected values: whatever the row, its result adds up
// to 1, and y[i] / y[0] is exp(x[i] − x[0]).
func checkLongRows(t *testing.T, d device.Device, a *Attention) {
	for _, s := range []attn.SoftmaxShape{
		{Outer: 4, Len: 31, Inner: 1},
		{Outer: 2, Len: 257, Inner: 3},
		{Outer: 3, Len: 1000, Inner: 1},
		{Outer: 1, Len: 16384, Inner: 1},
	} {
		t.Run(tensor.ShapeString([]int{s.Outer, s.Len, s.Inner}), func(t *testing.T) {
			x, err := tensor.Random(tensor.Normal, 2, 0, s.Elements())
			require.NoError(t, err)
			y := softmax(t, d, a, x.Data, s)
			for row := range s.Rows() {
				if !checkRow(t, s, row, x.Data, y) {
					return // one wrong row is enough
				}
			}
		})
	}
}

func checkRow(t *testing.T, s attn.SoftmaxShape, row int, x, y []float32) bool {
	t.Helper()
	at := func(i int) int { return (row/s.Inner*s.Len+i)*s.Inner + row%s.Inner }
	sum := 0.0
	for i := range s.Len {
		sum += float64(y[at(i)])
	}
	if !(math.Abs(sum-1) <= 1e-5) { // true for NaN
		t.Errorf("softmax of %v: row %d adds up to %v, want 1%s", s, row, sum, attntest.Unwritten(y))
		return false
	}
	x0, y0 := float64(x[at(0)]), float64(y[at(0)])
	for i := range s.Len {
		want := y0 * math.Exp(float64(x[at(i)])-x0)
		if got := float64(y[at(i)]); !(math.Abs(got-want) <= 1e-5*want) {
			t.Errorf("softmax of %v: element %d of row %d is %.6g; next to element 0, which is %.6g, it should be %.6g",
				s, i, row, got, y0, want)
			return false
		}
	}
	return true
}

// start opens a device and makes what is to be checked.
func start(t *testing.T) (device.Device, *Attention) {
	t.Helper()
	d := attntest.Device(t)
	a, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	return d, a
}

// softmax runs the student's code once, on a device, and returns what it wrote.
func softmax(t *testing.T, d device.Device, a *Attention, x []float32, s attn.SoftmaxShape) []float32 {
	t.Helper()
	src, err := device.Upload(d, "x", x)
	require.NoError(t, err)
	defer func() { _ = src.Free(d) }()
	dst, err := device.Alloc[float32](d, "y", s.Elements())
	require.NoError(t, err)
	defer func() { _ = dst.Free(d) }()
	require.NoError(t, d.Poison(dst.Memory()))

	err = a.Softmax(dst, src, s)
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatal("not implemented: Softmax in attention.go is still the stub (README.md says where to start)")
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "softmax of %v: %v", s, err)
	}
	after, err := src.CopyOut(d)
	require.NoError(t, err)
	if !slices.Equal(x, after) {
		attntest.Fatal(t, d, "softmax of %v: the kernel changed its input x", s)
	}
	got, err := dst.CopyOut(d)
	require.NoError(t, err)
	attntest.Findings(t, d)
	return got
}
