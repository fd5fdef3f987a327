package flash

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// DefaultTiles is what New takes: of those that `make tune TASK=4` tries, near the best on an H100 and small enough for older GPUs.
var DefaultTiles = Tiles{Queries: 64, Keys: 64}

// threads of a block: a square, whose side divides both sizes of Tiles.
const (
	side    = 16
	threads = side * side
)

// Flash holds the kernels for head dimensions up to 64 and up to 128.
type Flash struct {
	queue   device.Queue
	tiles   Tiles
	kernels []sized
}

// sized is a kernel whose rows are padded to dim numbers.
type sized struct {
	dim    int
	kernel device.Kernel
}

var _ attn.Kernel = (*Flash)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Flash, error) { return NewTiled(q, DefaultTiles) }

// NewTiled compiles them for other tiles.
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
	f := &Flash{queue: q, tiles: t}
	for _, dim := range []int{64, 128} {
		kernel, err := module.Kernel(fmt.Sprintf("flash_%d", dim))
		if err != nil {
			return nil, err
		}
		f.kernels = append(f.kernels, sized{dim, kernel})
	}
	return f, nil
}

// Run writes softmax(q·kᵀ/√Dim)·v to out.
func (f *Flash) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	if s.KVHeads != s.Heads {
		return fmt.Errorf("attention of %v: this one needs as many key heads as query heads", s)
	}
	for _, sz := range f.kernels {
		if s.Dim <= sz.dim {
			return f.launch(sz, out, q, k, v, s)
		}
	}
	return fmt.Errorf("attention of %v: the head dimension is at most 128", s)
}

func (f *Flash) launch(sz sized, out, q, k, v device.Buffer[float32], s attn.Shape) error {
	tiles := (s.SeqQ + f.tiles.Queries - 1) / f.tiles.Queries
	l := device.Launch{
		Grid:   device.D1(tiles * s.Batch * s.Heads),
		Block:  device.D1(threads),
		Shared: f.tiles.shared(sz.dim),
	}
	wide := s.Dim%4 == 0 // then every row starts at a multiple of 16 bytes, if the first does
	for _, b := range []device.Buffer[float32]{out, q, k, v} {
		wide = wide && b.Memory().Addr%16 == 0
	}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return f.queue.Launch(sz.kernel, l, q, k, v, out, s.SeqQ, s.SeqK, s.Dim, s.Causal, wide, factor)
}

// shared is the bytes of shared memory that kernels.cu lays out: q, k or the
// probabilities, v. Rows are padded by four numbers.
func (t Tiles) shared(dim int) int {
	row := dim + 4
	return 4 * (t.Queries*row + max(t.Keys*row, t.Queries*(t.Keys+4)) + t.Keys*row)
}
