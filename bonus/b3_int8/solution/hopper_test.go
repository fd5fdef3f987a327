package codes

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/tensor"
)

// TestBothKernels: by block, New takes one of them by the GPU, and the simulator runs either.
func TestBothKernels(t *testing.T) {
	for _, hopper := range []bool{false, true} {
		t.Run(fmt.Sprintf("hopper %v", hopper), func(t *testing.T) {
			made := func(t *testing.T) (device.Device, *Int8) {
				d := attntest.Device(t)
				it, err := newFor(device.QueueOf(d), hopper)
				require.NoError(t, err)
				return d, it
			}
			if info := attntest.Device(t).Info(); hopper && info.Kind == device.CUDA && info.Arch != "sm_90" {
				t.Skipf("%s is %s", info.Name, info.Arch)
			}
			testWay(t, made, byBlock)
			nan(t, made)
			d, it := made(t)
			e := exampleOf(4, 2, 200, 300, 128, true, tensor.Columns)
			r := byBlock(t, d, it, e)
			require.Less(t, apart(r.out, e.attention(r.q, r.k, r.v)), 1e-3, "several tiles of several heads")
		})
	}
}
