package half

import (
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/tensor"
)

// What hopper.cu has.
const (
	hopperRows    = 64      // up to so many, a tile would be half empty
	hopperThreads = 3 * 128 // of a block: one warpgroup asks for numbers, two multiply
	slice         = 64      // numbers of a line in a stage
	box           = 64      // lines of w that are fetched at once
)

// hopperTile is one of its kernels: lines of x and of w in a block's tile, and stages of it.
type hopperTile struct {
	kernel              string
	rows, lines, stages int
	gated               bool // half of the lines are the gate's
}

// Of tiles that are done at the same time, the first is chosen: the larger ones read less.
var (
	plainTiles = []hopperTile{
		{kernel: "product_256_128", rows: 256, lines: 128, stages: 4},
		{kernel: "product_128_192", rows: 128, lines: 192, stages: 5},
		{kernel: "product_128_128", rows: 128, lines: 128, stages: 6},
	}
	gatedTiles = []hopperTile{
		{kernel: "gated_256_128", rows: 256, lines: 128, stages: 4, gated: true},
		{kernel: "gated_128_128", rows: 128, lines: 128, stages: 6, gated: true},
	}
)

// shared is the bytes of shared memory that hopper.cu lays out: stages, two barriers for each, and what is
// skipped so that they begin at a multiple of 1024.
func (t hopperTile) shared() int { return t.stages*((t.rows+t.lines)*slice*2+16) + 1024 }

// count is how many tiles y [rows, width] has.
func (t hopperTile) count(rows, width int) int {
	if t.gated {
		width *= 2
	}
	return over(rows, t.rows) * over(width, t.lines)
}

// time is that of y [rows, width], in units of a product of a line of x with one of w: that of the processor
// with the most tiles.
func (t hopperTile) time(rows, width, processors int) int {
	return over(t.count(rows, width), processors) * t.rows * t.lines
}

// tiled tells whether hopper.cu has a product of so many rows. It writes 16 bytes at a time.
func (l *Layers) tiled(rows, width int) bool { return l.hopper && rows > hopperRows && width%8 == 0 }

// fastest is the kernel that is done first.
func fastest(tiles []hopperTile, rows, width, processors int) hopperTile {
	return slices.MinFunc(tiles, func(a, b hopperTile) int {
		return a.time(rows, width, processors) - b.time(rows, width, processors)
	})
}

// hoppers launches the fastest of some kernels.
func (l *Layers) hoppers(tiles []hopperTile, y, x, w Halves, rows, in, width int) error {
	t := fastest(tiles, rows, width, l.processors)
	xMap, err := device.NewTensorMap(x.Memory(), tensor.Float16, []int{in, rows}, []int{slice, t.rows}, 2*slice)
	if err != nil {
		return err
	}
	wMap, err := device.NewTensorMap(w.Memory(), tensor.Float16, []int{in, w.Len() / in}, []int{slice, box}, 2*slice)
	if err != nil {
		return err
	}
	at := device.Launch{Grid: device.D1(min(t.count(rows, width), l.processors)), Block: device.D1(hopperThreads), Shared: t.shared()}
	return l.queue.Launch(l.kernels[t.kernel], at, xMap, wMap, y, rows, in, width)
}

// Gated writes out [rows, width] = silu(gate) · up of x · wᵀ, where w [2 × width, in] has the gate's lines first.
// both [rows, 2 × width] is where the product goes if one kernel does not do it all.
func (l *Layers) Gated(out, both, x, w Halves, rows, in, width int) error {
	what := fmt.Sprintf("gated layer of x [%d, %d] with w [2 × %d, %d]", rows, in, width, in)
	if err := check(what, []int{rows, in, width}, in, of("x", x, rows*in), of("w", w, 2*width*in), of("out", out, rows*width),
		of("gate and up", both, 2*rows*width)); err != nil {
		return err
	}
	if err := check(what, nil, width); err != nil {
		return err
	}
	if l.tiled(rows, width) {
		return l.hoppers(gatedTiles, out, x, w, rows, in, width)
	}
	if err := l.Linear(both, x, w, rows, in, 2*width); err != nil {
		return err
	}
	return l.SwiGLU(out, both, rows, width)
}
