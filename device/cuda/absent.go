//go:build !cuda

package cuda

import (
	"fmt"

	"flashlab/device"
)

// Built says whether this program can use a GPU at all.
const Built = false

// Open says how to build a program that can use a GPU.
func Open(Options) (device.Device, error) {
	return nil, fmt.Errorf("%w: this program was built without CUDA: on a machine with an NVIDIA driver and the CUDA toolkit, build it with -tags cuda", device.ErrNoDevice)
}
