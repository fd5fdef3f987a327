// Package persistent has what kernels have in common that live through a whole decoding step: nn/gpt2's and
// nn/half/decoder's.
package persistent

import (
	"fmt"

	"flashlab/device"
)

// CopiesInBulk tells whether a device has cp.async.bulk.
func CopiesInBulk(info device.Info) bool {
	if info.Kind == device.Sim {
		return true
	}
	var arch int
	_, err := fmt.Sscanf(info.Arch, "sm_%d", &arch)
	return err == nil && arch >= 90
}
