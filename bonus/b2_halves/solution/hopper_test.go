package halves

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
)

// TestBothKernels: New takes one of them by the GPU, and the simulator runs either.
func TestBothKernels(t *testing.T) {
	d := attntest.Device(t)
	for _, hopper := range []bool{false, true} {
		t.Run(fmt.Sprintf("hopper %v", hopper), func(t *testing.T) {
			if info := d.Info(); hopper && info.Kind == device.CUDA && info.Arch != "sm_90" {
				t.Skipf("%s is %s", info.Name, info.Arch)
			}
			it, err := newFor(device.QueueOf(d), hopper)
			require.NoError(t, err)
			for _, c := range cases {
				checkAll(t, d, it, inFloat16, c.s, c.hint)
				checkAll(t, d, it, inBFloat16, c.s, c.hint)
			}
			checkAll(t, d, it, inFloat16, shapeOf(4, 2, 200, 300, 128, true), "several tiles of several heads for a block")
			edges(t, d, it)
		})
	}
}
