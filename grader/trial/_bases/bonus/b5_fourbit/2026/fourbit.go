package fourbit

import (
	"flashlab/device"
)

const (
	threads    = 256                     // of a block of dequantise, each for four numbers
	oneThreads = 1024                    // of a block of row.cu
	oneShared  = 256*256 + 8*16*(32+1)*4 // the table of pairs, and shares of 8 tiles of 16 outputs from 32 warps
)

// way is one of the kernels for several rows, as kernels.cu makes it: warps of a block, stages of weights
// under way in each, and tiles of 16 outputs and of 8 rows of x.
type way struct {
	name                      string
	warps, stages, tall, wide int
}

var ways = []way{{"project8", 16, 3, 1, 1}, {"project16", 16, 3, 1, 2}, {"project64", 8, 2, 2, 8}}

// shared is the bytes of shared memory that kernels.cu lays out: the table of pairs, the warps'
// shares of the sums, in two buffers for a few rows of x, and stages of up to 160 bytes for each output.
func (w way) shared() int {
	buffers := 1
	if w.wide <= 2 {
		buffers = 2
	}
	return 256*256 + w.warps*(buffers*512*w.tall*w.wide+w.stages*16*w.tall*160)
}

// Fourbit holds the kernels of both formats.
type Fourbit struct {
	queue      device.Queue
	nf4, mxfp4 kernelsOf
}

type kernelsOf struct {
	dequantise device.Kernel
	one        device.Kernel   // for one row of x
	project    []device.Kernel // one for each way
}

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
	src, rowSrc := Source, RowSource
	src.Defines = map[string]string{format: "1"}
	rowSrc.Defines = src.Defines
	module, err := q.Compile(rowSrc)
	if err != nil {
		return k, err
	}
	if k.one, err = module.Kernel("project1"); err != nil {
		return k, err
	}
	if module, err = q.Compile(src); err != nil {
		return k, err
	}
	if k.dequantise, err = module.Kernel("dequantise"); err != nil {
		return k, err
	}
	for _, w := range ways {
		kernel, err := module.Kernel(w.name)
		if err != nil {
			return k, err
		}
		k.project = append(k.project, kernel)
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
	if p.Rows() == 1 {
		return t.queue.Launch(t.nf4.one, t.one(p), x, w.Codes, w.Scales, bias, q, k, v, p.Hidden, p.Outputs(), p.Heads, p.KVHeads, p.Dim)
	}
	kernel, l := t.nf4.of(p, t.queue.Info().Processors)
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
	if p.Rows() == 1 {
		return t.queue.Launch(t.mxfp4.one, t.one(p), x, w.Codes, w.Scales, bias, q, k, v, p.Hidden, p.Outputs(), p.Heads, p.KVHeads, p.Dim)
	}
	kernel, l := t.mxfp4.of(p, t.queue.Info().Processors)
	return t.queue.Launch(kernel, l, x, w.Codes, w.Scales, bias, q, k, v, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim)
}

// one is the launch for one row of x: a block for each processor, if there are tiles of 16 outputs enough.
func (t *Fourbit) one(p Projection) device.Launch {
	blocks := min(over(p.Outputs(), 16), t.queue.Info().Processors)
	return device.Launch{Grid: device.D1(blocks), Block: device.D1(oneThreads), Shared: oneShared, Early: true}
}

// of is the kernel for so many rows of x. Each processor has one block, which takes its share of
// the outputs.
func (k kernelsOf) of(p Projection, processors int) (device.Kernel, device.Launch) {
	i := 0
	for i < len(ways)-1 && p.Rows() > 8*ways[i].wide {
		i++
	}
	w := ways[i]
	groups := over(p.Outputs(), 16*w.tall)
	return k.project[i], device.Launch{Grid: device.D2(min(groups, processors), over(p.Rows(), 8*w.wide)), Block: device.D1(32 * w.warps), Shared: w.shared(), Early: true}
}
