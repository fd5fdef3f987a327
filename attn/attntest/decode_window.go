package attntest

import (
	"fmt"
	"math"
	"testing"

	"flashlab/attn"
	"flashlab/device"
)

// DecodeWindow checks steps of decoding that see the last slots alone; call is the method's name.
func DecodeWindow(t *testing.T, d device.Device, call string, decode Decoding) {
	windowed := func(batch, heads, kvHeads, slots, dim, window int) attn.DecodeShape {
		s := decodeShape(batch, heads, kvHeads, slots, dim)
		s.Window = window
		return s
	}
	ln3, nan := float32(math.Log(3)), float32(math.NaN())
	decodeOnce(t, d, call, decode, randomStep(t, windowed(1, 1, 1, 1, 1, 1), []int{1}), "") // is anything written yet?
	for _, c := range []struct {
		name string
		in   step
		out  []float32
		hint string
	}{
		{"newest", step{windowed(1, 1, 1, 4, 1, 1), []int{3}, []float32{1}, []float32{9, 9, 0, nan}, []float32{1, 2, 7, nan}}, []float32{7},
			"with a window of 1 only the newest token is seen, in slot 2"},
		{"last_two", step{windowed(1, 1, 1, 4, 1, 2), []int{3}, []float32{1}, []float32{9, 0, ln3, nan}, []float32{100, 0, 4, nan}}, []float32{3},
			"slots 1 and 2 are seen, with weights 1/4 and 3/4; slot 0 lies before the window"},
		{"lengths_differ", step{windowed(2, 1, 1, 3, 1, 2), []int{1, 3}, []float32{0, 0}, []float32{1, nan, nan, 2, 3, 4}, []float32{5, nan, nan, 100, 2, 6}}, []float32{5, 4},
			"sequence 0 has one token, and sees it; sequence 1 sees its slots 1 and 2"},
		{"all_of_them", step{windowed(1, 1, 1, 3, 1, 9), []int{3}, []float32{0}, []float32{1, 2, 3}, []float32{1, 3, 8}}, []float32{4},
			"a window of more slots than are filled leaves none out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := decodeOnce(t, d, call, decode, c.in, "")
			for i, want := range c.out {
				if math.Abs(float64(got[i]-want)) <= 1e-5 { // false for NaN
					continue
				}
				t.Errorf("%s of %v, lengths %v\n  q = %v\n  k = %v\n  v = %v\n  got  = %v\n  want = %v\n  hint: %s",
					call, c.in.DecodeShape, c.in.lengths, c.in.q, c.in.k, c.in.v, got, c.out, c.hint)
				return
			}
		})
	}
	for _, c := range []struct {
		shape   attn.DecodeShape
		lengths []int
	}{{windowed(3, 2, 2, 70, 33, 20), []int{70, 1, 45}}, {windowed(2, 6, 2, 113, 8, 64), []int{113, 65}}} {
		s := c.shape
		t.Run(fmt.Sprintf("float64_%d_window_%d", s.MaxSeq, s.Window), func(t *testing.T) {
			in := randomStep(t, s, c.lengths)
			got, want := decodeOnce(t, d, call, decode, in, ""), in.float64s()
			for i, w := range want {
				if !(math.Abs(float64(got[i])-w) <= 1e-5) { // true for NaN
					t.Errorf("%s of %v, lengths %v: sequence %d, head %d, number %d: got %v, want %.6g%s",
						call, s, c.lengths, i/s.Dim/s.Heads, i/s.Dim%s.Heads, i%s.Dim, got[i], w, Unwritten(got))
					return
				}
			}
		})
	}
}
