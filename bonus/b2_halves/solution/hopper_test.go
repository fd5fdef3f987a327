package halves

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

func TestBothKernels(t *testing.T) {
	attntest.BothKernels(t, func(t *testing.T, hopper, taken bool) {
		d := attntest.Device(t)
		it, err := newFor(device.QueueOf(d), hopper)
		require.NoError(t, err)
		if !taken {
			for _, c := range cases {
				checkAll(t, d, it, inFloat16, c.s, c.hint)
				checkAll(t, d, it, inBFloat16, c.s, c.hint)
			}
			edges(t, d, it)
		}
		checkAll(t, d, it, inFloat16, shapeOf(4, 2, 200, 300, 128, true), "several tiles of several heads for a block")
	})
}
