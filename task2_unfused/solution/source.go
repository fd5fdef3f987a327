// Package unfused is task 2: attention one step at a time, with a separate kernel
// for each step.
//
// README.md is the handout. You edit attention.go and kernels.cu.
package unfused

import "flashlab/device"

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Folder: "task2_unfused", Name: "kernels.cu"}
