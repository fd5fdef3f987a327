package decode

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestTwoAtOnce: two Decodes share their kernels' module, and nothing that is written.
func TestTwoAtOnce(t *testing.T) {
	s := shapeOf(1, 8, 2, 1024, 64) // in four parts
	n := s.Heads * s.Dim
	attntest.Overlapping(t, n, func(t *testing.T, d device.Device, queue device.Queue, seed uint64) attntest.Step[device.Float16] {
		it, err := New(queue)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, 6))
		half := func() device.Float16 { return device.ToFloat16(float32(r.NormFloat64())) }
		q := attntest.Inputs(t, d, "q", n, half)
		k, v := attntest.Filled(t, d, "k", s.Elements(), half), attntest.Filled(t, d, "v", s.Elements(), half)
		lengths := attn.PerSequence{Host: []int{s.MaxSeq}, Device: attntest.Filled(t, d, "lengths", 1, func() int32 { return int32(s.MaxSeq) })}
		return func(i int, out device.Buffer[device.Float16]) error {
			part, err := q(i)
			if err != nil {
				return err
			}
			return it.Float16(out, part, k, v, s, lengths)
		}
	})
}
