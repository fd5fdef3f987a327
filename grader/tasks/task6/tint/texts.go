//go:build !graded

package tint

import (
	"embed"

	"flashlab/device"
)

//go:embed *.cu
var texts embed.FS

var _ = device.Provide("grader/tasks/task6/tint", texts)
