package flash

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New takes, where a block may have that much shared memory.
var (
	DefaultTiles = Tiles{Queries: 128, Keys: 64}
	smallTiles   = Tiles{Queries: 64, Keys: 32} // for GPUs with 100 KB
)

// Flash holds the kernels for head dimensions up to 64, and up to 128.
type Flash struct {
	queue        device.Queue
	tiles        Tiles
	narrow, wide device.Kernel
}

var _ attn.Kernel = (*Flash)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Flash, error) {
	if DefaultTiles.shared(128) > q.Info().MaxShared {
		return NewTiled(q, smallTiles)
	}
	return NewTiled(q, DefaultTiles)
}

// NewTiled compiles them for other tiles.
func NewTiled(q device.Queue, t Tiles) (*Flash, error) {
	if t.Queries < 16 || t.Keys < 16 || t.Queries%16 != 0 || t.Keys%16 != 0 || t.Queries > 128 {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: both must be multiples of 16, and the queries at most 128", t.Queries, t.Keys)
	}
	if t.Queries%min(t.Queries, t.Keys) != 0 {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: queries are staged as many at a time as there are keys, so they must be a multiple of these, or at most as many", t.Queries, t.Keys)
	}
	f := &Flash{queue: q, tiles: t}
	for dim, kernel := range map[int]*device.Kernel{64: &f.narrow, 128: &f.wide} {
		src := Source
		src.Defines = map[string]string{"BR": strconv.Itoa(t.Queries), "BC": strconv.Itoa(t.Keys), "DIM": strconv.Itoa(dim)}
		module, err := q.Compile(src)
		if err != nil {
			return nil, err
		}
		if *kernel, err = module.Kernel("flash"); err != nil {
			return nil, err
		}
	}
	return f, nil
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
	kernel, dim := f.narrow, 64
	if s.Dim > dim {
		kernel, dim = f.wide, 128
	}
	blocks := (s.SeqQ + f.tiles.Queries - 1) / f.tiles.Queries * s.Batch * s.Heads
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(2 * f.tiles.Queries), Shared: f.tiles.shared(dim)} // a warp for 16
	aligned := s.Dim%4 == 0                                                                                         // then every row starts at a multiple of 16 bytes, if the first does
	for _, b := range []device.Buffer[float32]{out, q, k, v} {
		aligned = aligned && b.Memory().Addr%16 == 0
	}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return f.queue.Launch(kernel, l, q, k, v, out, s.SeqQ, s.SeqK, s.Dim, s.Causal, aligned, factor)
}

// shared is the bytes of kernels.cu's struct Shared: two halves for each number of the queries, of
// keys and of values, a tile of either as it arrives, and the scales of every 8 rows, in whole 16
// bytes. Each row of halves is eight numbers longer than it needs to be.
func (t Tiles) shared(dim int) int {
	scales := func(rows int) int { return (rows/8 + 3) / 4 * 16 }
	return 4*(dim+8)*(t.Queries+2*t.Keys) + 4*dim*t.Keys + scales(t.Queries) + 2*scales(t.Keys)
}
