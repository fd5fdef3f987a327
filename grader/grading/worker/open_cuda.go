//go:build cuda

package worker

import (
	"flashlab/device"
	"flashlab/device/cuda"
)

// openCUDA opens the GPU in this process; kernels are compiled by the grader,
// which keeps the compiler's cache to itself.
func openCUDA(compile func(src device.Source, arch string) ([]byte, []device.Signature, error)) (device.Device, error) {
	return cuda.Open(cuda.Options{Compile: compile})
}
