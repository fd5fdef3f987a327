package w4a16

import "flashlab/device"

// W4A16 holds the kernels, and memory for the largest weights so far, in halves.
type W4A16 struct {
	queue                                     device.Queue
	lay, dequantise, dequantiseLaid, multiply device.Kernel
	wide                                      Halves
}

// New compiles the kernels for one device.
func New(q device.Queue) (*W4A16, error) {
	t := &W4A16{queue: q}
	module, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	for name, kernel := range map[string]*device.Kernel{"lay": &t.lay, "dequantise": &t.dequantise, "dequantiseLaid": &t.dequantiseLaid, "multiply": &t.multiply} {
		if *kernel, err = module.Kernel(name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// threads of a block of kernels that have a thread or a warp for each piece of work.
const threads = 256

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
	return t.inTwo(t.dequantise, over(s.N*s.K/8, threads), y, x, w, s)
}

// Rows multiplies up to 64 rows.
func (t *W4A16) Rows(y, x Halves, w Laid, s Shape) error {
	if err := w.Check(y, x, s); err != nil {
		return err
	}
	return t.inTwo(t.dequantiseLaid, over(s.Tiles()*Tall*s.K/8, threads), y, x, Weights(w), s)
}

// inTwo reads the weights into halves, and multiplies these.
func (t *W4A16) inTwo(read device.Kernel, blocks int, y, x Halves, w Weights, s Shape) (err error) {
	if t.wide.Len() < s.N*s.K {
		if t.wide.Len() > 0 {
			if err := t.wide.Free(t.queue); err != nil {
				return err
			}
		}
		if t.wide, err = device.Alloc[device.Float16](t.queue, "weights in halves", s.N*s.K); err != nil {
			return err
		}
	}
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(threads)}
	if err := t.queue.Launch(read, l, w.Codes, w.Scales, w.Zeros, t.wide, s.K, s.N); err != nil {
		return err
	}
	l.Grid = device.D2(over(s.N, threads/32), s.Rows)
	return t.queue.Launch(t.multiply, l, x, t.wide, y, s.K, s.N)
}
