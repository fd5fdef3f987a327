// Task 2's file for a test of the Python package: Softmax writes far outside of its buffers.
package unfused

import (
	"flashlab/attn"
	"flashlab/device"
)

type Attention struct {
	queue device.Queue
	wrong device.Kernel
}

func New(q device.Queue) (*Attention, error) {
	m, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	wrong, err := m.Kernel("astray")
	return &Attention{q, wrong}, err
}

func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	return a.queue.Launch(a.wrong, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, dst)
}

func (*Attention) Gemm(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	return attn.ErrNotImplemented
}

func (*Attention) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	return attn.ErrNotImplemented
}
