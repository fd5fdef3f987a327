package attntest

import (
	"fmt"
	"math"
	"testing"

	"flashlab/attn"
	"flashlab/device"
)

// Window checks an attention whose queries see their last keys alone.
func Window(t *testing.T, d device.Device, k attn.Kernel) {
	windowed := func(seqQ, seqK, dim, window int) attn.Shape {
		s := shape(seqQ, seqK, dim, true)
		s.Window = window
		return s
	}
	attend(t, d, k, inputs{windowed(1, 1, 1, 1), []float32{1}, []float32{1}, []float32{1}}) // is anything written yet?
	t.Run("by_hand", func(t *testing.T) {
		ln3 := float32(math.Log(3))
		for _, c := range []struct {
			name string
			in   inputs
			out  []float32
			hint string
		}{
			{"own_key", inputs{windowed(3, 3, 1, 1), []float32{1, 1, 1}, []float32{5, 6, 7}, []float32{1, 2, 3}}, []float32{1, 2, 3},
				"with a window of 1 each query sees its own key alone, so out is v"},
			{"two_keys", inputs{windowed(3, 3, 1, 2), []float32{1, 1, 1}, []float32{ln3, 0, ln3}, []float32{8, 4, 0}}, []float32{8, 7, 1},
				"query 0 has key 0 alone; query 1 sees keys 0 and 1, with weights 3/4 and 1/4; query 2 sees keys 1 and 2, with weights 1/4 and 3/4"},
			{"fewer_queries", inputs{windowed(1, 4, 1, 2), []float32{0}, []float32{1, 2, 3, 4}, []float32{100, 100, 2, 6}}, []float32{4},
				"the only query is the last one: its own key is key 3, and it sees keys 2 and 3"},
			{"all_keys", inputs{windowed(2, 3, 1, 9), []float32{0, 0}, []float32{1, 2, 3}, []float32{1, 3, 8}}, []float32{2, 4},
				"a window of more keys than there are hides none: query 0 sees keys 0 and 1, query 1 sees all"},
		} {
			t.Run(c.name, func(t *testing.T) {
				got := attend(t, d, k, c.in)
				for i, want := range c.out {
					if math.Abs(float64(got[i]-want)) <= 1e-5 { // false for NaN
						continue
					}
					t.Errorf("attention of %v\n  q = %v\n  k = %v\n  v = %v\n  got  = %v\n  want = %v\n  hint: %s%s",
						c.in.Shape, c.in.q, c.in.k, c.in.v, got, c.out, c.hint, Unwritten(got))
					return
				}
			})
		}
	})
	for _, s := range []attn.Shape{windowed(17, 33, 33, 7), windowed(65, 65, 96, 64), windowed(130, 130, 8, 3), windowed(70, 66, 8, 5)} {
		t.Run(fmt.Sprintf("%s_window_%d", name(s), s.Window), func(t *testing.T) {
			in := random(t, s)
			got := attend(t, d, k, in)
			for i, g := range got {
				row, want := i/s.Dim, 0.0
				for key, w := range in.weightsOf(row) {
					if s.Sees(row, key) {
						want += w * float64(in.v[key*s.Dim+i%s.Dim])
					}
				}
				if !(math.Abs(float64(g)-want) <= 1e-5) { // true for NaN
					t.Errorf("attention of %v: query %d, number %d: got %v, want %.6g%s", s, row, i%s.Dim, g, want, Unwritten(got))
					return
				}
			}
		})
	}
}
