package w4a16

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestTwoAtOnce: two W4A16s share their kernels' module, and nothing that is written.
func TestTwoAtOnce(t *testing.T) { forBoth(t, twoAtOnce) }

func twoAtOnce(t *testing.T, hopper bool) {
	for _, rows := range []int{16, 64} {
		s := Shape{Rows: rows, K: 2048, N: 128} // k is shared by two blocks
		x0, groups := s.Rows*s.K, s.K/Group
		attntest.Overlapping(t, s.Rows*s.N, func(t *testing.T, d device.Device, queue device.Queue, seed uint64) attntest.Step[device.Float16] {
			it, err := newFor(queue, hopper)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(seed, 8))
			half := func() device.Float16 { return device.ToFloat16(float32(r.NormFloat64())) }
			code := func() uint8 { return uint8(r.IntN(256)) }
			x := attntest.Filled(t, d, "x", x0+8*attntest.MostSteps, half)
			w := Laid{attntest.Filled(t, d, "codes", s.N*s.K/2, code), attntest.Filled(t, d, "scales", s.N*groups, half), attntest.Filled(t, d, "zeros", s.N*groups, code)}
			return func(i int, out Halves) error {
				part, err := x.Slice(8*i, 8*i+x0) // 16 bytes further on
				if err != nil {
					return err
				}
				return it.Rows(out, part, w, s)
			}
		})
	}
}
