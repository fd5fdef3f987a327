package flash

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New takes: queries of a block, a warp each. There are no
// tiles of keys here.
var DefaultTiles = Tiles{Queries: 8, Keys: 1}

// Flash holds the kernel.
type Flash struct {
	queue  device.Queue
	warps  int
	kernel device.Kernel
}

var _ attn.Kernel = (*Flash)(nil)

// New compiles the kernel for one device.
func New(q device.Queue) (*Flash, error) { return NewTiled(q, DefaultTiles) }

// NewTiled compiles it for other blocks.
func NewTiled(q device.Queue, t Tiles) (*Flash, error) {
	if t.Queries < 1 || 32*t.Queries > q.Info().MaxThreads {
		return nil, fmt.Errorf("blocks of %d queries: a warp each comes to more than %d threads", t.Queries, q.Info().MaxThreads)
	}
	module, err := q.Compile(Source)
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel("flash")
	return &Flash{queue: q, warps: t.Queries, kernel: kernel}, err
}

// Run writes softmax(q·kᵀ/√Dim)·v to out.
func (f *Flash) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	if s.KVHeads != s.Heads || s.Dim > 128 {
		return fmt.Errorf("attention of %v: this one needs as many key heads as query heads, and a head dimension of 128 at most", s)
	}
	rows := s.Batch * s.Heads * s.SeqQ
	l := device.Launch{Grid: device.D1((rows + f.warps - 1) / f.warps), Block: device.D1(32 * f.warps)}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return f.queue.Launch(f.kernel, l, q, k, v, out, rows, s.SeqQ, s.SeqK, s.Dim, s.Causal, factor)
}
