//go:build !graded

package main

import (
	"embed"

	"flashlab/device"
)

//go:embed *.cu
var texts embed.FS

var _ = device.Provide("grader/tasks/b1/worker", texts)
