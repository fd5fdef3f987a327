package fourbit

import (
	"flashlab/device"
)

// threads of a block of dequantise, each for four numbers.
const threads = 256

// What kernels.cu has: warps of a block that multiplies, and rows of x.
const (
	warps = 4
	rows  = 8
)

// Fourbit holds the kernels of both formats.
type Fourbit struct {
	queue      device.Queue
	nf4, mxfp4 kernelsOf
}

type kernelsOf struct{ dequantise, project device.Kernel }

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
	if k.dequantise, err = module.Kernel("dequantise"); err != nil {
		return k, err
	}
	k.project, err = module.Kernel("project")
	return k, err
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
	return t.queue.Launch(t.nf4.project, of(p), x, w.Codes, w.Scales, bias, q, k, v, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim)
}

// ProjectMXFP4 is the same for MXFP4, in rows of Hidden.
func (t *Fourbit) ProjectMXFP4(q, k, v, x Halves, w MXFP4, bias Halves, p Projection) error {
	if err := p.Check(q, k, v, x, bias); err != nil {
		return err
	}
	if err := w.Check(p.Outputs()*p.Hidden, p.Hidden); err != nil {
		return err
	}
	return t.queue.Launch(t.mxfp4.project, of(p), x, w.Codes, w.Scales, bias, q, k, v, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim)
}

func of(p Projection) device.Launch {
	return device.Launch{Grid: device.D2(over(p.Outputs(), warps), over(p.Rows(), rows)), Block: device.D1(32 * warps)}
}
