// Package flash is task 4: attention as one fused kernel that never writes the
// scores to device memory.
//
// README.md is the handout. You edit attention.go and kernels.cu.
package flash

import "flashlab/device"

// Source is kernels.cu, as Queue.Compile takes it. This file is provided: the
// grader never takes a student's copy of it.
var Source = device.Source{Folder: "task4_flash", Name: "kernels.cu"}

// Tiles are the sizes that a host may choose: a block's queries, and the keys
// that it takes at a time. `make tune TASK=4` tries several.
type Tiles struct{ Queries, Keys int }
