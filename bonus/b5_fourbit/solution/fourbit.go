package fourbit

import (
	"flashlab/device"
)

// What kernels.cu has.
const (
	threads = 256 // of a block of dequantise, each for four numbers
	few     = 512 // of a block for a few rows of x
	many    = 128 // of a block for many

	table = 4 * 256 * 32    // bytes of the table of pairs
	tiles = 2 * 2 * 64 * 64 // and of two tiles of x
)

// Fourbit holds the kernels of both formats.
type Fourbit struct {
	queue      device.Queue
	nf4, mxfp4 kernelsOf
}

type kernelsOf struct{ dequantise, project8, project16, project64 device.Kernel }

// New compiles the kernels for one device.
func New(q device.Queue) (*Fourbit, error) {
	nf4, err := compiled(q, "NF4")
	if err != nil {
		return nil, err
	}
	mxfp4, err := compiled(q, "MXFP4")
	return &Fourbit{q, nf4, mxfp4}, err
}

func compiled(q device.Queue, format string) (k kernelsOf, err error) {
	src := Source
	src.Defines = map[string]string{format: "1"}
	module, err := q.Compile(src)
	if err != nil {
		return k, err
	}
	for name, to := range map[string]*device.Kernel{
		"dequantise": &k.dequantise, "project8": &k.project8, "project16": &k.project16, "project64": &k.project64,
	} {
		if *to, err = module.Kernel(name); err != nil {
			return k, err
		}
	}
	return k, nil
}

// DequantiseNF4 writes the weights to out as float32.
func (t *Fourbit) DequantiseNF4(out device.Buffer[float32], w NF4) error {
	n := out.Len()
	if err := w.Check(n); err != nil {
		return err
	}
	return t.queue.Launch(t.nf4.dequantise, flat(n), w.Codes, w.Scales, out, n, n)
}

// DequantiseMXFP4 is the same for MXFP4 in rows of so many numbers.
func (t *Fourbit) DequantiseMXFP4(out device.Buffer[float32], w MXFP4, row int) error {
	n := out.Len()
	if err := w.Check(n, row); err != nil {
		return err
	}
	return t.queue.Launch(t.mxfp4.dequantise, flat(n), w.Codes, w.Scales, out, n, row)
}

func flat(n int) device.Launch {
	return device.Launch{Grid: device.D1(over(n, 4*threads)), Block: device.D1(threads)}
}

func over(n, each int) int { return (n + each - 1) / each }

// ProjectNF4 writes x [Wq | Wk | Wv] + bias to q, k and v.
func (t *Fourbit) ProjectNF4(q, k, v, x Halves, w NF4, bias Halves, p Projection) error {
	if err := p.Check(q, k, v, x, bias); err != nil {
		return err
	}
	if err := w.Check(p.Outputs() * p.Hidden); err != nil {
		return err
	}
	kernel, l := t.nf4.of(p)
	return t.queue.Launch(kernel, l, x, w.Codes, w.Scales, bias, q, k, v, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim)
}

// ProjectMXFP4 is the same for MXFP4, in rows of Hidden.
func (t *Fourbit) ProjectMXFP4(q, k, v, x Halves, w MXFP4, bias Halves, p Projection) error {
	if err := p.Check(q, k, v, x, bias); err != nil {
		return err
	}
	if err := w.Check(p.Outputs()*p.Hidden, p.Hidden); err != nil {
		return err
	}
	kernel, l := t.mxfp4.of(p)
	return t.queue.Launch(kernel, l, x, w.Codes, w.Scales, bias, q, k, v, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim)
}

// of is the kernel for so many rows of x.
func (k kernelsOf) of(p Projection) (device.Kernel, device.Launch) {
	switch {
	case p.Rows() <= 8:
		return k.project8, device.Launch{Grid: device.D1(over(p.Outputs(), 16)), Block: device.D1(few)}
	case p.Rows() <= 16:
		return k.project16, device.Launch{Grid: device.D1(over(p.Outputs(), 32)), Block: device.D1(few)}
	}
	return k.project64, device.Launch{Grid: device.D2(over(p.Outputs(), 128), over(p.Rows(), 64)), Block: device.D1(many), Shared: table + tiles}
}
