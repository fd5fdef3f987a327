// Package cuda is device.Device on an NVIDIA GPU, over gorgonia.org/cu. It is
// the only importer of that package, and only with the build tag cuda: without
// it, this package compiles anywhere and Open says how to get the real one.
//
// All work goes to one stream, in order. Launches return before the kernel has
// run, so a kernel that is stopped may be reported by a later call: by Sync at
// the latest.
package cuda

import (
	"flashlab/device"
)

// Options say which GPU to open, and how.
type Options struct {
	// Ordinal numbers the GPUs of this process from 0.
	Ordinal int
	// Compile turns a source into a cubin for arch, such as "sm_90", and tells which kernels
	// of C linkage its text has. Where it is nil, nvcc does that on this machine. A worker passes one
	// that asks the grader, which has the text.
	Compile func(src device.Source, arch string) (code []byte, kernels []device.Signature, err error)
}
