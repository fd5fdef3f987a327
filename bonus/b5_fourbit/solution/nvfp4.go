package fourbit

import "flashlab/device"

// A block of nvfp4.cu's kernels: threads of dequantise, four numbers each, and warps and rows of x of project.
const (
	twoLevelThreads = 256
	twoLevelEach    = 4
	twoLevelWarps   = 4
	twoLevelRows    = 8
)

// blocksFor is how many blocks of a size n pieces of work need.
func blocksFor(n, each int) int { return (n + each - 1) / each }

// TwoLevel holds the kernels of NVFP4.
type TwoLevel struct {
	queue               device.Queue
	dequantise, project device.Kernel
}

// NewTwoLevel compiles the kernels for one device.
func NewTwoLevel(q device.Queue) (*TwoLevel, error) {
	module, err := q.Compile(NVFP4Source)
	if err != nil {
		return nil, err
	}
	t := &TwoLevel{queue: q}
	if t.dequantise, err = module.Kernel("dequantise"); err != nil {
		return nil, err
	}
	t.project, err = module.Kernel("project")
	return t, err
}

// DequantiseNVFP4 writes the weights to out as float32.
func (t *TwoLevel) DequantiseNVFP4(out device.Buffer[float32], w NVFP4, row int) error {
	n := out.Len()
	if err := w.Check(n, row); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(blocksFor(n, twoLevelThreads*twoLevelEach)), Block: device.D1(twoLevelThreads)}
	return t.queue.Launch(t.dequantise, l, w.Codes, w.Scales, w.Tensor, out, n, row)
}

// ProjectNVFP4 writes x [Wq | Wk | Wv] + bias to q, k and v.
func (t *TwoLevel) ProjectNVFP4(q, k, v, x Halves, w NVFP4, bias Halves, p Projection) error {
	if err := p.Check(q, k, v, x, bias); err != nil {
		return err
	}
	if err := w.Check(p.Outputs()*p.Hidden, p.Hidden); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D2(blocksFor(p.Outputs(), twoLevelWarps), blocksFor(p.Rows(), twoLevelRows)), Block: device.D1(32 * twoLevelWarps)}
	return t.queue.Launch(t.project, l, x, w.Codes, w.Scales, w.Tensor, bias, q, k, v, p.Rows(), p.Hidden, p.Outputs(), p.Seq, p.Heads, p.KVHeads, p.Dim)
}
