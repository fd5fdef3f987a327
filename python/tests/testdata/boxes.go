// Task 2's file for a test of the Python package: Softmax copies rows of 32 through a tensor map.
package unfused

import (
	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

type Attention struct {
	queue device.Queue
	row   device.Kernel
}

func New(q device.Queue) (*Attention, error) {
	m, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	row, err := m.Kernel("copy_row")
	return &Attention{q, row}, err
}

func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	m, err := device.NewTensorMap(src.Memory(), tensor.Float32, []int{s.Len, s.Outer}, []int{32, 1}, 128)
	if err != nil {
		return err
	}
	return a.queue.Launch(a.row, device.Launch{Grid: device.D1(s.Outer), Block: device.D1(32)}, m, dst)
}

func (*Attention) Gemm(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	return attn.ErrNotImplemented
}

func (*Attention) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	return attn.ErrNotImplemented
}
