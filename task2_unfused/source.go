// Package unfused is task 2: attention one step at a time, with a separate kernel
// for each step.
//
// README.md is the handout. You edit attention.go and kernels.cu.
package unfused

import (
	_ "embed"

	"flashlab/device"
)

//go:embed kernels.cu
var kernels string

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Name: "kernels.cu", Text: kernels}
