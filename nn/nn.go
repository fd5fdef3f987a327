// Package nn is the rest of a transformer, on a device: everything between and
// around the attention kernels. README.md describes its layouts and choices.
//
// Tensors are dense and row-major. Only New and the constructors allocate, except
// for scratch that grows at its first use. What changes from step to step (tokens,
// positions) is read from device memory. So any method that has been called once
// can be recorded in a graph.
package nn

import (
	"fmt"

	"flashlab/device"
)

// Floats and Ints are what the methods work on.
type (
	Floats = device.Buffer[float32]
	Ints   = device.Buffer[int32]
)

// Layers holds the compiled kernels of one device.
type Layers struct {
	queue      device.Queue
	kernels    map[string]device.Kernel
	processors int                   // of the device: how many blocks it takes to fill it
	worthwhile int                   // fewest products for which a layer goes to the tensor cores
	hopper     map[int]device.Kernel // hopper.cu's, by a tile's columns; nil on other devices
	cut        *Cut                  // the weights' halves, if they are there already
	alone      bool                  // linear layers compute each result by a thread: see Alone
	scratch    *scratch
}

// New compiles the kernels. Those for Hopper take a while in the simulator, where they are no faster than the others.
func New(q device.Queue) (*Layers, error) { return newFor(q, q.Info().Arch == "sm_90") }

func newFor(q device.Queue, hopper bool) (*Layers, error) {
	files := map[string][]string{
		"linear.cu":      {"linear_1", "linear_2", "linear_4", "linear_8"},
		"gemm.cu":        {"gemm_64", "gemm_128"},
		"alone.cu":       {"linear_alone"},
		"pieces.cu":      {"split_lines"},
		"product.cu":     {"product_64", "product_128", "add_up"},
		"norm.cu":        {"layer_norm", "add_norm", "rms_norm", "add_rms_norm"},
		"rope.cu":        {"rope", "rope_turns"},
		"elementwise.cu": {"gelu", "swiglu", "add"},
		"rows.cu":        {"embed", "embed_positions", "last_rows", "advance", "go_on", "repeat_heads", "swap_middle"},
		"argmax.cu":      {"argmax", "argmax_parts"},
		"fill.cu":        {"fill", "fill_narrow"},
	}
	l := &Layers{queue: q, processors: q.Info().Processors, worthwhile: worthwhile, scratch: &scratch{}}
	var err error
	if l.kernels, err = compile(q, files); err != nil || !hopper {
		return l, err
	}
	l.hopper = map[int]device.Kernel{}
	for _, columns := range hopperColumns {
		module, err := compileWith(q, "hopper.cu", hopperDefines(columns))
		if err != nil {
			return nil, err
		}
		if l.hopper[columns], err = module.Kernel("hopper"); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// NewFill compiles Fill alone, for those who only make inputs.
func NewFill(q device.Queue) (*Layers, error) {
	kernels, err := compile(q, map[string][]string{"fill.cu": {"fill", "fill_narrow"}})
	return &Layers{queue: q, kernels: kernels}, err
}

// compile makes the named kernels of each file.
func compile(q device.Queue, files map[string][]string) (map[string]device.Kernel, error) {
	kernels := map[string]device.Kernel{}
	for file, names := range files {
		module, err := compileWith(q, file, defines[file])
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if kernels[name], err = module.Kernel(name); err != nil {
				return nil, err
			}
		}
	}
	return kernels, nil
}

func compileWith(q device.Queue, file string, defines map[string]int) (device.Module, error) {
	return q.Compile(device.Source{Folder: "nn", Name: file, Defines: macros(defines)})
}

// waits has the kernels that call waitForInputs in every block before they touch what
// earlier kernels have written. These may be launched early (device.Launch.Early).
// Add another one here only once it does that.
var waits = map[string]bool{
	"linear_1": true, "linear_2": true, "linear_4": true, "linear_8": true, // linear.cu
	"layer_norm": true, "add_norm": true, "rms_norm": true, "add_rms_norm": true, // norm.cu
	"rope": true, "rope_turns": true, // rope.cu
	"split_lines": true, // pieces.cu
	"swap_middle": true, // rows.cu
}

// block is the number of threads in a block where each thread works independently.
const block = 256

// each launches a kernel with a thread for each of n things.
func (l *Layers) each(kernel string, n int, args ...any) error {
	return l.launch(kernel, (n+block-1)/block, block, args...)
}

func (l *Layers) launch(kernel string, blocks, threads int, args ...any) error {
	return l.grid(kernel, blocks, 1, 1, threads, 0, args...)
}

// grid launches x × y × z blocks with bytes of dynamic shared memory.
func (l *Layers) grid(kernel string, x, y, z, threads, shared int, args ...any) error {
	at := device.Launch{Grid: device.D3(x, y, z), Block: device.D1(threads), Shared: shared, Early: waits[kernel]}
	return l.queue.Launch(l.kernels[kernel], at, args...)
}

// size is a buffer and the number of elements it should have.
type size struct {
	name   string
	buffer string // its own name, if that is another
	len    int
	want   int
}

func of[T device.Scalar](name string, b device.Buffer[T], want int) size {
	return size{name, b.Name(), b.Len(), want}
}

func (s size) String() string {
	if s.buffer != "" && s.buffer != s.name {
		return fmt.Sprintf("%s (the buffer %q)", s.name, s.buffer)
	}
	return s.name
}

// check tells what is wrong with an operation's dimensions, or with the sizes of
// its buffers. The text is made only if something is wrong.
func check(what func() string, dimensions []int, sizes ...size) error {
	for _, d := range dimensions {
		if d < 1 {
			return fmt.Errorf("%s: every dimension must be at least 1", what())
		}
	}
	for _, s := range sizes {
		if s.len != s.want {
			return fmt.Errorf("%s: %v holds %d elements, want %d", what(), s, s.len, s.want)
		}
	}
	return nil
}

// wide tells whether rows of a width may be read 16 bytes at a time.
func wide(width int, buffers ...Floats) bool {
	for _, b := range buffers {
		if b.Memory().Addr%16 != 0 {
			return false
		}
	}
	return width%4 == 0
}
