package flash

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New takes.
var DefaultTiles = Tiles{Queries: 64, Keys: 64}

// threads of a block: a square, whose side divides both sizes of Tiles.
const (
	side    = 16
	threads = side * side
)

// Flash holds the kernel.
type Flash struct {
	queue  device.Queue
	tiles  Tiles
	kernel device.Kernel
}

var _ attn.Kernel = (*Flash)(nil)

// New compiles the kernel for one device.
func New(q device.Queue) (*Flash, error) { return NewTiled(q, DefaultTiles) }

// NewTiled compiles it for other tiles.
func NewTiled(q device.Queue, t Tiles) (*Flash, error) {
	if t.Queries < side || t.Keys < side || t.Queries%side != 0 || t.Keys%side != 0 {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: both must be multiples of %d", t.Queries, t.Keys, side)
	}
	src := Source
	src.Defines = map[string]string{"BR": strconv.Itoa(t.Queries), "BC": strconv.Itoa(t.Keys)}
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel("flash")
	return &Flash{queue: q, tiles: t, kernel: kernel}, err
}

// Run writes softmax(q·kᵀ/√Dim)·v to out.
func (f *Flash) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	if s.KVHeads != s.Heads || s.Dim > 128 {
		return fmt.Errorf("attention of %v: this one needs as many key heads as query heads, and a head dimension of 128 at most", s)
	}
	blocks := (s.SeqQ + f.tiles.Queries - 1) / f.tiles.Queries * s.Batch * s.Heads
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(threads), Shared: f.tiles.shared()}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return f.queue.Launch(f.kernel, l, q, k, v, out, s.SeqQ, s.SeqK, s.Dim, s.Causal, factor)
}

// shared is the bytes of kernels.cu's struct Shared: q, k, v and the probabilities. Each row is one
// number longer than it needs to be.
func (t Tiles) shared() int {
	return 4 * ((t.Queries+2*t.Keys)*(128+1) + t.Queries*(t.Keys+1))
}
