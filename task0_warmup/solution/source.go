// Package warmup is the reference solution of task 0. Its kernels.cu stands in for the file of the
// same name one folder up.
package warmup

import (
	_ "embed"

	"flashlab/device"
)

//go:embed kernels.cu
var kernels string

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Name: "kernels.cu", Text: kernels}
