//go:build !graded

package flash

import (
	"embed"

	"flashlab/device"
)

//go:embed *.cu
var kernelTexts embed.FS

var _ = device.Provide("task4_flash", kernelTexts)
