// Package decode is task 5: attention with a cache of keys and values, one new token
// at a time.
//
// README.md is the handout. You edit decode.go and kernels.cu.
package decode

import "flashlab/device"

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Folder: "task5_decode", Name: "kernels.cu"}
