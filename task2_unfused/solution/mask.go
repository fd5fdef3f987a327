package unfused

import (
	"math"

	"flashlab/attn"
	"flashlab/device"
)

// maskBlock is the number of threads of a block: each changes one score.
const maskBlock = 256

// Mask is the step between scores and softmax, provided: it divides by √Dim and
// applies the causal mask. Its two functions are also an example of what yours
// will look like.
type Mask struct {
	queue  device.Queue
	kernel device.Kernel
}

// NewMask compiles mask.cu.
func NewMask(q device.Queue) (*Mask, error) {
	module, err := q.Compile(device.Source{Folder: "task2_unfused", Name: "mask.cu"})
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel("scale_and_mask")
	if err != nil {
		return nil, err
	}
	return &Mask{queue: q, kernel: kernel}, nil
}

// Apply changes scores [Batch, Heads, SeqQ, SeqK] in place.
func (m *Mask) Apply(scores device.Buffer[float32], s attn.Shape) error {
	n := scores.Len()
	l := device.Launch{
		Grid:  device.D1((n + maskBlock - 1) / maskBlock), // rounded up
		Block: device.D1(maskBlock),
	}
	scale := 1 / math.Sqrt(float64(s.Dim))
	return m.queue.Launch(m.kernel, l, scores, n, s.SeqQ, s.SeqK, scale, s.Causal)
}
