package w4a16

import "flashlab/device"

// W4A16 holds the kernels.
type W4A16 struct {
	queue          device.Queue
	lay, row, rows device.Kernel
}

// New compiles the kernels for one device.
func New(q device.Queue) (*W4A16, error) {
	t := &W4A16{queue: q}
	module, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	for name, kernel := range map[string]*device.Kernel{"lay": &t.lay, "row": &t.row, "rows": &t.rows} {
		if *kernel, err = module.Kernel(name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// threads of a block of lay.
const threads = 256

// warps of a block of row and rows, as kernels.cu has them.
const warps = 4

func over(n, each int) int { return (n + each - 1) / each }

// Lay writes the weights to to in the order of fragments.
func (t *W4A16) Lay(to Laid, w Weights, s Shape) error {
	if err := s.CheckLay(to, w); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(over(s.Tiles()*s.K/64, threads/32)), Block: device.D1(threads)}
	return t.queue.Launch(t.lay, l, w.Codes, w.Scales, w.Zeros, to.Codes, to.Scales, to.Zeros, s.K, s.N)
}

// Row multiplies one row.
func (t *W4A16) Row(y, x Halves, w Weights, s Shape) error {
	if err := w.Check(y, x, s); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(s.N), Block: device.D1(32 * warps)}
	return t.queue.Launch(t.row, l, x, w.Codes, w.Scales, w.Zeros, y, s.K, s.N)
}

// Rows multiplies up to 64 rows.
func (t *W4A16) Rows(y, x Halves, w Laid, s Shape) error {
	if err := w.Check(y, x, s); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D2(s.Tiles(), s.Rows), Block: device.D1(32 * warps)}
	return t.queue.Launch(t.rows, l, x, w.Codes, w.Scales, w.Zeros, y, s.Rows, s.K, s.N)
}
