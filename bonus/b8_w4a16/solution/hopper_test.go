package w4a16

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
				multiply(t, d, it, c.Shape, "Rows", c.hint)
			}
			nan(t, d, it, 3)
			nan(t, d, it, 17)
		}
		multiply(t, d, it, Shape{16, 640, 150}, "Rows", "more tiles than blocks")
		multiply(t, d, it, Shape{3, 4224, 20}, "Rows", "k longer than a block of stream.cu has room for")
		multiply(t, d, it, Shape{17, 1152, 150}, "Rows", "blocks that share k, and a part of rows")
	})
}

// TestWhoMultiplies: on Hopper up to 16 rows are stream.cu's where one block has room for k, and more are hopper.cu's.
func TestWhoMultiplies(t *testing.T) {
	attntest.BothKernels(t, func(t *testing.T, hopper, _ bool) {
		it, err := newFor(device.QueueOf(attntest.Device(t)), hopper)
		require.NoError(t, err)
		for _, c := range []struct {
			Shape
			onHopper, elsewhere string
		}{
			{Shape{1, 4096, 64}, "stream16", "rows16few"}, {Shape{16, 4096, 64}, "stream16", "rows16few"},
			{Shape{16, 4224, 64}, "rows16few", "rows16few"},
			{Shape{17, 128, 64}, "rows_hopper", "rows64"}, {Shape{64, 8192, 64}, "rows_hopper", "rows64"},
		} {
			want := c.elsewhere
			if hopper {
				want = c.onHopper
			}
			kernel, _ := it.choose(c.Shape)
			require.Equal(t, want, kernel.Signature().Name, "%+v", c.Shape)
		}
	})
}
