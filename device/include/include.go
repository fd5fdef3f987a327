// Package include has the course's own headers that are the same for every device: plain CUDA C++.
// Those whose text differs are in nvcc/include and sim/include, by the same names.
package include

import "embed"

// Files are the headers, by the names that kernels include.
//
//go:embed *.h
var Files embed.FS
