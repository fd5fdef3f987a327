//go:build !cuda

package worker

import (
	"fmt"

	"flashlab/device"
)

func openCUDA(func(device.Source, string) ([]byte, []device.Signature, error)) (device.Device, error) {
	return nil, fmt.Errorf("this worker was built without CUDA: %w", device.ErrNoDevice)
}
