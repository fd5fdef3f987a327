// Package half is the rest of a transformer in float16, on a device: layers whose tensors are halves
// and whose sums are float32, for prompts and for decoding steps. nn has the same in float32.
//
// Tensors are dense and row-major. Widths are multiples of 8, and buffers start at multiples of 16
// bytes, so that every load has 16. Only New allocates. What changes from step to step
// (tokens, positions) is read from device memory, so every method can be recorded in a graph, where its
// kernels begin early and request weights before they wait: weights may not be the results of an
// earlier kernel of the same graph.
package half

import (
	"fmt"
	"strconv"

	"flashlab/device"
)

// Halves, Floats, and Ints are what the methods work on.
type (
	Halves = device.Buffer[device.Float16]
	Floats = device.Buffer[float32]
	Ints   = device.Buffer[int32]
)

// What kernels get as macros: norm.cu's threads and the pieces that each keeps, and attention.cu's
// largest head.
const (
	normBlock = 512
	normHeld  = 4
	maxDim    = 256
)

var defines = map[string]map[string]string{
	"norm.cu":      {"BLOCK": strconv.Itoa(normBlock), "HELD": strconv.Itoa(normHeld)},
	"attention.cu": {"MAX_DIM": strconv.Itoa(maxDim)},
}

// Layers holds the compiled kernels of one device.
type Layers struct {
	queue      device.Queue
	kernels    map[string]device.Kernel
	processors int  // of the device: how many blocks it takes to fill it
	hopper     bool // whether hopper.cu's kernels run on it
}

// New compiles the kernels.
func New(q device.Queue) (*Layers, error) {
	info := q.Info()
	l := &Layers{queue: q, kernels: map[string]device.Kernel{}, processors: info.Processors, hopper: info.Kind == device.Sim || info.Arch == "sm_90"}
	files := map[string][]string{
		"linear.cu":    {"linear_8", "linear_8_many", "linear_16", "linear_16_many", "logits_8", "logits_16"},
		"product.cu":   {"product_64", "product_128"},
		"norm.cu":      {"rms_norm", "add_norm"},
		"rotate.cu":    {"rotate"},
		"rows.cu":      {"embed", "last_rows", "swap_middle", "swiglu", "widen"},
		"attention.cu": {"attend"},
		"prompt.cu":    {"attend_64", "attend_128"},
		"four.cu":      {"quantise", "dequantise", "dequantise_laid"},
		"kivi.cu":      {"keep_kivi"},
		"loss.cu":      {"losses"},
	}
	if l.hopper {
		for _, t := range append(plainTiles, gatedTiles...) {
			files["hopper.cu"] = append(files["hopper.cu"], t.kernel)
		}
	}
	for file, names := range files {
		module, err := q.Compile(device.Source{Folder: "nn/half", Name: file, Defines: defines[file]})
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if l.kernels[name], err = module.Kernel(name); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// block is the number of threads in a block where each thread works independently.
const block = 256

// each launches a kernel with a thread for each of n things.
func (l *Layers) each(kernel string, n int, args ...any) error {
	return l.launch(kernel, device.D1(over(n, block)), block, 0, args...)
}

// launch begins early in a graph: every kernel here waits for its inputs by itself.
func (l *Layers) launch(kernel string, grid device.Dim, threads, shared int, args ...any) error {
	at := device.Launch{Grid: grid, Block: device.D1(threads), Shared: shared, Early: true}
	return l.queue.Launch(l.kernels[kernel], at, args...)
}

func over(n, each int) int { return (n + each - 1) / each }

// size is a buffer and the number of elements that it should have.
type size struct {
	name string
	mem  device.Memory
	len  int
	want int
}

func of[T device.Scalar](name string, b device.Buffer[T], want int) size {
	return size{name, b.Memory(), b.Len(), want}
}

// check tells what is wrong with an operation's dimensions, with a width, or with the sizes and
// places of its buffers.
func check(what string, dimensions []int, width int, sizes ...size) error {
	for _, d := range dimensions {
		if d < 1 {
			return fmt.Errorf("%s: every dimension must be at least 1", what)
		}
	}
	if width%8 != 0 {
		return fmt.Errorf("%s: a width of %d: want a multiple of 8, so that rows start at multiples of 16 bytes", what, width)
	}
	for _, s := range sizes {
		if s.len != s.want {
			return fmt.Errorf("%s: %s (the buffer %q) holds %d elements, want %d", what, s.name, s.mem.Name, s.len, s.want)
		}
		if s.mem.Addr%16 != 0 && s.len > 1 {
			return fmt.Errorf("%s: %s (the buffer %q) does not start at a multiple of 16 bytes", what, s.name, s.mem.Name)
		}
	}
	return nil
}
