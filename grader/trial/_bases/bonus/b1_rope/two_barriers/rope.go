package rope

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// tiles are the sizes that the host may choose: a block's queries, and the keys
// that it takes at a time.
type tiles struct{ queries, keys int }

var (
	fewTiles   = tiles{128, 64} // keep more processors busy
	manyTiles  = tiles{256, 64} // read keys and values, and turn keys, half as often
	smallTiles = tiles{64, 32}  // for GPUs with 100 KB of shared memory
)

// manyBlocks is from how many blocks on manyTiles are the faster ones: twice an
// H100's processors, about.
const manyBlocks = 256

// Rope holds the kernels, for one or two sizes of tiles.
type Rope struct {
	queue     device.Queue
	few, many tiled
}

// tiled is what one size of tiles compiles to: kernels for head dimensions up to
// 64, and up to 128.
type tiled struct {
	tiles
	narrow, wide device.Kernel
}

// New compiles the kernels for one device.
func New(q device.Queue) (*Rope, error) {
	few := fewTiles
	if few.shared(128) > q.Info().MaxShared {
		few = smallTiles
	}
	one, err := compile(q, few)
	if err != nil || manyTiles.shared(128) > q.Info().MaxShared {
		return &Rope{queue: q, few: one, many: one}, err
	}
	many, err := compile(q, manyTiles)
	return &Rope{queue: q, few: one, many: many}, err
}

func compile(q device.Queue, t tiles) (c tiled, err error) {
	c.tiles = t
	for dim, kernel := range map[int]*device.Kernel{64: &c.narrow, 128: &c.wide} {
		src := Source
		src.Defines = map[string]string{"BR": strconv.Itoa(t.queries), "BC": strconv.Itoa(t.keys), "DIM": strconv.Itoa(dim)}
		module, err := q.Compile(src)
		if err != nil {
			return c, err
		}
		if *kernel, err = module.Kernel("rope"); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Run writes softmax(rot(q)·rot(k)ᵀ/√Dim)·v to out.
func (t *Rope) Run(out, q, k, v device.Buffer[float32], start attn.PerSequence, s attn.Shape, r Rotation) error {
	if err := r.Check(out, q, k, v, start, s); err != nil {
		return err
	}
	c := t.few
	if t.many.blocks(s) >= manyBlocks && s.SeqQ > c.queries {
		c = t.many
	}
	kernel, dim := c.narrow, 64
	if s.Dim > dim {
		kernel, dim = c.wide, 128
	}
	l := device.Launch{Grid: device.D1(c.blocks(s)), Block: device.D1(32 * c.warps()), Shared: c.shared(dim)}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return t.queue.Launch(kernel, l, q, k, v, start.Device, out, s.Heads, s.SeqQ, s.SeqK, s.Dim, s.Causal, r.Neighbours, math.Log2(r.Base), factor)
}

// blocks is how many share out the queries.
func (t tiles) blocks(s attn.Shape) int {
	return (s.SeqQ + t.queries - 1) / t.queries * s.Batch * s.Heads
}

// warps of a block, each with 16 queries, or with 32 where there are many.
func (t tiles) warps() int {
	if t.queries > 128 {
		return t.queries / 32
	}
	return t.queries / 16
}

// shared is the bytes of shared memory that kernels.cu lays out: the queries,
// three tiles of keys or values, the turns of each pair, and the exponents of
// every 8 rows.
func (t tiles) shared(dim int) int {
	return 4*dim*(t.queries+3*t.keys) + 16*dim/2 + 4*(t.queries+2*t.keys)/8
}
