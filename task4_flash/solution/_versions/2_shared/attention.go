package flash

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New takes: queries of a block, a warp each, and keys of a tile, a lane each.
var DefaultTiles = Tiles{Queries: 16, Keys: 32}

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
	if t.Queries < 1 || t.Queries > 16 || t.Keys != 32 {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: this one takes 1 to 16 queries, and 32 keys", t.Queries, t.Keys)
	}
	src := Source
	src.Defines = map[string]string{"BR": strconv.Itoa(t.Queries)}
	module, err := q.Compile(src)
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
	blocks := (s.SeqQ + f.warps - 1) / f.warps * s.Batch * s.Heads
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(32 * f.warps)}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return f.queue.Launch(f.kernel, l, q, k, v, out, s.SeqQ, s.SeqK, s.Dim, s.Causal, factor)
}
