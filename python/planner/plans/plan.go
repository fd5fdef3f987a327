// Package plans runs a task's Go code without a GPU and notes what it launches.
//
// The Python package replays these notes on tensors that PyTorch or JAX own. So a student's Go
// file stays the only place that decides on grids, blocks and arguments.
package plans

import "flashlab/device"

// Request is one line that Python writes: a call, and the GPU that it is for.
type Request struct {
	Op      string         // "attention"
	Type    string         // "float32", "float16" or "bfloat16"
	Sizes   map[string]int // "seqQ": 1000; a truth value is 0 or 1
	Offsets map[string]int // how far behind a multiple of 256 bytes each tensor begins
	Device  device.Info
	Compile bool // false: leave the kernels as text, for machines without nvcc
}

// Plan is the line that Python gets back: blocks of memory, machine code, and steps in their order.
type Plan struct {
	Blocks  []Block  `json:"blocks"`
	Modules []Module `json:"modules"`
	Steps   []Step   `json:"steps"`
	Error   string   `json:"error,omitempty"`
	Kind    string   `json:"kind,omitempty"` // of the error: "stub", "refused", "compile" or "nvcc"
}

// Block is device memory: a tensor of the caller's, or scratch that the code allocated.
type Block struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Tensor bool   `json:"tensor"`
	base   uint64 // the address that the code was told
}

// Module is a compiled file.
type Module struct {
	Name  string `json:"name"`
	Key   string `json:"key"`             // of its content
	Cubin []byte `json:"cubin,omitempty"` // base64 in JSON
	Text  string `json:"text,omitempty"`  // where nothing was compiled
}

// Step is a launch, a fill or a copy: whichever is set.
type Step struct {
	Launch *Launch `json:"launch,omitempty"`
	Fill   *Fill   `json:"fill,omitempty"`
}

// Launch is one kernel's start.
type Launch struct {
	Module      int        `json:"module"`
	Kernel      string     `json:"kernel"`
	Grid        [3]int     `json:"grid"`
	Block       [3]int     `json:"block"`
	Shared      int        `json:"shared"`
	Cooperative bool       `json:"cooperative,omitempty"`
	Cluster     *[3]int    `json:"cluster,omitempty"`
	Arguments   []Argument `json:"arguments"`
}

// Argument is the bytes of one argument, and where an address goes into them.
type Argument struct {
	Bytes    []byte    `json:"bytes"`
	Pointers []Pointer `json:"pointers,omitempty"`
	Map      *Map      `json:"map,omitempty"` // of a CUtensorMap, whose address is the only pointer
}

// Map is a device.TensorMap but for its memory, as CUDA's driver encodes one.
type Map struct {
	Element int     `json:"element"`
	Sizes   []int   `json:"sizes"`
	Strides []int64 `json:"strides"`
	Box     []int   `json:"box"`
	Swizzle int     `json:"swizzle"`
}

// Pointer is an address in an argument: it depends on where a block lies in the call.
type Pointer struct {
	At     int   `json:"at"` // in the argument's bytes
	Block  int   `json:"block"`
	Offset int64 `json:"offset"` // in the block
}

// Fill writes bytes that do not depend on any tensor's numbers: Data, or Value everywhere.
type Fill struct {
	Block  int    `json:"block"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Value  byte   `json:"value"`
	Data   []byte `json:"data,omitempty"`
}
