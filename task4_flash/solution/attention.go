package flash

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New takes for few queries. For many it takes manyTiles,
// which read keys and values half as often but keep fewer processors busy, where
// a block may have that much shared memory.
var (
	DefaultTiles = Tiles{Queries: 128, Keys: 64}
	manyTiles    = Tiles{Queries: 256, Keys: 64}
	smallTiles   = Tiles{Queries: 64, Keys: 32} // for GPUs with 100 KB
)

// manyBlocks is from how many blocks on manyTiles are the faster ones: twice an
// H100's processors, about.
const manyBlocks = 256

// Flash holds the kernels, for one or two sizes of tiles.
type Flash struct {
	queue     device.Queue
	few, many tiled
}

// tiled is what one size of tiles compiles to: kernels for head dimensions up to
// 64, and up to 128.
type tiled struct {
	Tiles
	narrow, wide device.Kernel
}

var _ attn.Kernel = (*Flash)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Flash, error) {
	few := DefaultTiles
	if few.shared(128) > q.Info().MaxShared {
		few = smallTiles
	}
	f, err := NewTiled(q, few)
	if err != nil || manyTiles.shared(128) > q.Info().MaxShared {
		return f, err
	}
	f.many, err = compile(q, manyTiles)
	return f, err
}

// NewTiled compiles them for other tiles.
func NewTiled(q device.Queue, t Tiles) (*Flash, error) {
	if t.Queries < 16 || t.Keys < 16 || t.Queries%16 != 0 || t.Keys%16 != 0 || t.warps() > 8 || t.Queries > 128 && t.Queries%32 != 0 {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: both must be multiples of 16, and the queries at most 128, or 160, 192, 224 or 256", t.Queries, t.Keys)
	}
	if t.Queries%min(t.Queries, t.Keys) != 0 {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: queries are staged as many at a time as there are keys, so they must be a multiple of these, or at most as many", t.Queries, t.Keys)
	}
	one, err := compile(q, t)
	return &Flash{queue: q, few: one, many: one}, err
}

func compile(q device.Queue, t Tiles) (c tiled, err error) {
	c.Tiles = t
	for dim, kernel := range map[int]*device.Kernel{64: &c.narrow, 128: &c.wide} {
		src := Source
		src.Defines = map[string]string{"BR": strconv.Itoa(t.Queries), "BC": strconv.Itoa(t.Keys), "DIM": strconv.Itoa(dim)}
		module, err := q.Compile(src)
		if err != nil {
			return c, err
		}
		if *kernel, err = module.Kernel("flash"); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Run writes softmax(q·kᵀ/√Dim)·v to out.
func (f *Flash) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	switch {
	case s.KVHeads != s.Heads:
		return fmt.Errorf("attention of %v: this one needs as many key heads as query heads", s)
	case s.Dim > 128:
		return fmt.Errorf("attention of %v: the head dimension is at most 128", s)
	}
	t := f.few
	if f.many.Queries > 0 && f.many.blocks(s) >= manyBlocks && s.SeqQ > t.Queries {
		t = f.many
	}
	kernel, dim := t.narrow, 64
	if s.Dim > dim {
		kernel, dim = t.wide, 128
	}
	l := device.Launch{Grid: device.D1(t.blocks(s)), Block: device.D1(32 * t.warps()), Shared: t.shared(dim)}
	aligned := s.Dim%4 == 0 // then every row starts at a multiple of 16 bytes, if the first does
	for _, b := range []device.Buffer[float32]{out, q, k, v} {
		aligned = aligned && b.Memory().Addr%16 == 0
	}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return f.queue.Launch(kernel, l, q, k, v, out, s.SeqQ, s.SeqK, s.Dim, s.Causal, aligned, factor)
}

// blocks is how many share out the queries.
func (t Tiles) blocks(s attn.Shape) int {
	return (s.SeqQ + t.Queries - 1) / t.Queries * s.Batch * s.Heads
}

// warps of a block, each with 16 queries, or with 32 where there are many.
func (t Tiles) warps() int {
	if t.Queries > 128 {
		return t.Queries / 32
	}
	return t.Queries / 16
}

// shared is the bytes of kernels.cu's struct Shared: the queries, three tiles of
// keys or values, and the scales of every 8 rows, in whole 16 bytes.
func (t Tiles) shared(dim int) int {
	scales := func(rows int) int { return (rows/8 + 3) / 4 * 16 }
	return 4*dim*(t.Queries+3*t.Keys) + scales(t.Queries) + 2*scales(t.Keys)
}
