package w4a16

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

// forBoth runs a test with kernels.cu alone, and with Hopper's kernels. New takes either by the GPU, and the simulator
// runs both.
func forBoth(t *testing.T, test func(t *testing.T, hopper bool)) {
	info := attntest.Device(t).Info()
	for _, hopper := range []bool{false, true} {
		t.Run(fmt.Sprintf("hopper %v", hopper), func(t *testing.T) {
			if hopper && info.Kind == device.CUDA && info.Arch != "sm_90" {
				t.Skipf("%s is %s", info.Name, info.Arch)
			}
			test(t, hopper)
		})
	}
}

func TestBothKinds(t *testing.T) {
	forBoth(t, func(t *testing.T, hopper bool) {
		d := attntest.Device(t)
		it, err := newFor(device.QueueOf(d), hopper)
		require.NoError(t, err)
		for _, c := range cases {
			multiply(t, d, it, c.Shape, "Rows", c.hint)
		}
		multiply(t, d, it, Shape{16, 640, 150}, "Rows", "more tiles than blocks")
		multiply(t, d, it, Shape{3, 4224, 20}, "Rows", "k longer than a block of stream.cu has room for")
		multiply(t, d, it, Shape{17, 1152, 150}, "Rows", "blocks that share k, and a part of rows")
		nan(t, d, it, 3)
		nan(t, d, it, 17)
	})
}

// TestWhoMultiplies: on Hopper up to 16 rows are stream.cu's where one block has room for k, and more are hopper.cu's.
func TestWhoMultiplies(t *testing.T) {
	forBoth(t, func(t *testing.T, hopper bool) {
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
