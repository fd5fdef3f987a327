// Package b5 is all that the grader knows of bonus task b5: weights of four bits.
package b5

import "flashlab/grader/grading/judge"

// Ops are what task b5 is asked for: reading the weights, and multiplying by them. NVFP4 is optional.
var Ops = judge.Ops{dequantise(nf4), dequantise(mxfp4), project(nf4), project(mxfp4), dequantise(nvfp4), project(nvfp4)}
