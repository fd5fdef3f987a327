//go:build !graded

package halved

import (
	"embed"

	"flashlab/device"
)

//go:embed *.cu
var texts embed.FS

var _ = device.Provide("grader/tasks/talk/halved", texts)
