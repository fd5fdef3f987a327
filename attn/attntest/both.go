package attntest

import (
	"fmt"
	"testing"

	"flashlab/device"
)

// BothKernels runs a test with a solution's kernels for every GPU, and with those for Hopper's, which the simulator runs,
// too. taken tells which of the two New takes on this device: other tests try these.
func BothKernels(t *testing.T, test func(t *testing.T, hopper, taken bool)) {
	t.Helper()
	info := Device(t).Info()
	for _, hopper := range []bool{false, true} {
		t.Run(fmt.Sprintf("hopper %v", hopper), func(t *testing.T) {
			if hopper && info.Kind == device.CUDA && info.Arch != "sm_90" {
				t.Skipf("%s is %s", info.Name, info.Arch)
			}
			test(t, hopper, hopper == (info.Arch == "sm_90"))
		})
	}
}
