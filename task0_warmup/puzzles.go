package warmup

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
)

// This file is provided. It launches your kernels: read here with how many blocks and threads.

// Puzzles holds the compiled kernels.
type Puzzles struct {
	queue  device.Queue
	module device.Module
}

// New compiles kernels.cu, once for all puzzles.
func New(q device.Queue) (*Puzzles, error) {
	module, err := q.Compile(Source)
	return &Puzzles{q, module}, err
}

const (
	block = 256 // threads of a block in most puzzles
	side  = 32  // of a tile
)

// Map is puzzle 1: y = x + 10 for [n] numbers, in one block of n threads.
func (p *Puzzles) Map(y, x device.Buffer[float32]) error {
	return p.launch("add_ten", device.D1(1), device.D1(x.Len()), x, y)
}

// Guard is puzzle 2: the same for any n, in as many blocks of 256 threads as n needs.
func (p *Puzzles) Guard(y, x device.Buffer[float32]) error {
	return p.launch("add_ten_guarded", device.D1(blocks(x.Len(), block)), device.D1(block), x, y, x.Len())
}

// Grid is puzzle 3: y [rows, cols] = x [rows, cols] + bias [cols], in blocks of 16 × 16 threads.
func (p *Puzzles) Grid(y, x, bias device.Buffer[float32], rows, cols int) error {
	return p.launch("add_bias", device.D2(blocks(cols, 16), blocks(rows, 16)), device.D2(16, 16), x, bias, y, rows, cols)
}

// Shift is puzzle 4: each block of 256 numbers moves one place to the left, the first to the end.
func (p *Puzzles) Shift(y, x device.Buffer[float32]) error {
	return p.launch("shift_left", device.D1(x.Len()/block), device.D1(block), x, y)
}

// Sum is puzzle 5: y [blocks] holds the sum of each block of 256 numbers.
func (p *Puzzles) Sum(y, x device.Buffer[float32]) error {
	return p.launch("sum_block", device.D1(y.Len()), device.D1(block), x, y)
}

// Transpose is puzzle 6: y [cols, rows] is x [rows, cols] transposed, a tile of 32 × 32 a block.
func (p *Puzzles) Transpose(y, x device.Buffer[float32], rows, cols int) error {
	return p.launch("transpose", device.D2(blocks(cols, side), blocks(rows, side)), device.D2(side, side), x, y, rows, cols)
}

// Pad is puzzle 7: y [rows] holds the sums of the rows of x [rows, 32]; rows is a multiple of 32.
func (p *Puzzles) Pad(y, x device.Buffer[float32]) error {
	return p.launch("sum_rows", device.D1(y.Len()/side), device.D1(side), x, y)
}

// Race is puzzle 8: y[i] is the largest of x[i] and the four behind it, in each block of 256 numbers.
func (p *Puzzles) Race(y, x device.Buffer[float32]) error {
	return p.launch("largest_of_five", device.D1(x.Len()/block), device.D1(block), x, y)
}

// Walk is step 9: y [rows, n] is x [rows, n], a block of 256 threads for each row.
func (p *Puzzles) Walk(y, x device.Buffer[float32], rows int) error {
	return p.perRow("walk_rows", y, x, rows)
}

// Parts is step 10: y [rows, 256] holds what each thread adds up of its row of x [rows, n].
func (p *Puzzles) Parts(y, x device.Buffer[float32], rows int) error {
	return p.perRow("part_sums", y, x, rows)
}

// Total is step 11: y [rows] holds the sums of the rows of x [rows, n].
func (p *Puzzles) Total(y, x device.Buffer[float32], rows int) error {
	return p.perRow("row_totals", y, x, rows)
}

// Centre is step 12: y [rows, n] is x [rows, n] without each row's mean.
func (p *Puzzles) Centre(y, x device.Buffer[float32], rows int) error {
	return p.perRow("centre_rows", y, x, rows)
}

// perRow launches a block for each row of x [rows, n].
func (p *Puzzles) perRow(kernel string, y, x device.Buffer[float32], rows int) error {
	return p.launch(kernel, device.D1(rows), device.D1(block), x, y, x.Len()/rows)
}

func (p *Puzzles) launch(kernel string, grid, threads device.Dim, args ...any) error {
	k, err := p.module.Kernel(kernel)
	if err != nil {
		return err
	}
	if k.Signature().Empty {
		return fmt.Errorf("%w: %s in kernels.cu has no code yet", attn.ErrNotImplemented, kernel)
	}
	return p.queue.Launch(k, device.Launch{Grid: grid, Block: threads}, args...)
}

// blocks is how many blocks of a size n threads need: n / size, rounded up.
func blocks(n, size int) int { return (n + size - 1) / size }
