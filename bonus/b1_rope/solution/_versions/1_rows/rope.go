package rope

import (
	"math"

	"flashlab/attn"
	"flashlab/device"
)

// Rope holds the kernel.
type Rope struct {
	queue  device.Queue
	kernel device.Kernel
}

// New compiles the kernel for one device.
func New(q device.Queue) (*Rope, error) {
	m, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("rope")
	return &Rope{q, k}, err
}

// Run writes softmax(rot(q)·rot(k)ᵀ/√Dim)·v to out: a warp for each query.
func (t *Rope) Run(out, q, k, v device.Buffer[float32], start attn.PerSequence, s attn.Shape, r Rotation) error {
	if err := r.Check(out, q, k, v, start, s); err != nil {
		return err
	}
	const warps = 8 // of a block
	rows := s.Batch * s.Heads * s.SeqQ
	l := device.Launch{Grid: device.D1((rows + warps - 1) / warps), Block: device.D1(32 * warps)}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return t.queue.Launch(t.kernel, l, q, k, v, start.Device, out, s.Heads, rows, s.SeqQ, s.SeqK, s.Dim, s.Causal, r.Neighbours, math.Log2(r.Base), factor)
}
