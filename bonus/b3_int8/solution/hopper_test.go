package codes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/tensor"
)

// TestBothKernels is of scales by block: by tensor there is one kernel.
func TestBothKernels(t *testing.T) {
	attntest.BothKernels(t, func(t *testing.T, hopper, taken bool) {
		made := func(t *testing.T) (device.Device, *Int8) {
			d := attntest.Device(t)
			it, err := newFor(device.QueueOf(d), hopper)
			require.NoError(t, err)
			return d, it
		}
		if !taken {
			testWay(t, made, byBlock)
			nan(t, made)
		}
		d, it := made(t)
		e := exampleOf(4, 2, 200, 300, 128, true, tensor.Columns)
		r := byBlock(t, d, it, e)
		require.Less(t, apart(r.out, e.attention(r.q, r.k, r.v)), 1e-3, "several tiles of several heads")
	})
}
