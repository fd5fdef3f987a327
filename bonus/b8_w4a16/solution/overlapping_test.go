package w4a16

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestTwoAtOnce: two W4A16s share their kernels' module, and nothing that is written.
func TestTwoAtOnce(t *testing.T) {
	attntest.BothKernels(t, func(t *testing.T, hopper, _ bool) { twoAtOnce(t, hopper) })
}

func twoAtOnce(t *testing.T, hopper bool) {
	for _, rows := range []int{16, 64} {
		s := Shape{Rows: rows, K: 8192, N: 128} // too many for stream.cu: several blocks share k, of kernels.cu or hopper.cu
		groups := s.K / Group
		attntest.Overlapping(t, s.Rows*s.N, func(t *testing.T, d device.Device, queue device.Queue, seed uint64) attntest.Step[device.Float16] {
			it, err := newFor(queue, hopper)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(seed, 8))
			half := func() device.Float16 { return device.ToFloat16(float32(r.NormFloat64())) }
			code := func() uint8 { return uint8(r.IntN(256)) }
			x := attntest.Inputs(t, d, "x", s.Rows*s.K, half)
			w := Laid{attntest.Filled(t, d, "codes", s.N*s.K/2, code), attntest.Filled(t, d, "scales", s.N*groups, half), attntest.Filled(t, d, "zeros", s.N*groups, code)}
			return func(i int, out Halves) error {
				part, err := x(i)
				if err != nil {
					return err
				}
				return it.Rows(out, part, w, s)
			}
		})
	}
}
