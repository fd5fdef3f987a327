//go:build !graded

package warmup

import (
	"embed"

	"flashlab/device"
)

//go:embed *.cu
var kernelTexts embed.FS

var _ = device.Provide("task0_warmup", kernelTexts)
