package backward

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// What kernels.cu has: queries or keys of a tile, and threads of a block.
const (
	tile    = 32
	threads = 128
)

// Backward holds the kernels, by the head's dimension.
type Backward struct {
	queue device.Queue
	by    map[int]passes
}

// New compiles the kernels for one device.
func New(q device.Queue) (*Backward, error) {
	t := &Backward{queue: q, by: map[int]passes{}}
	for _, dim := range []int{64, 128} {
		src := Source
		src.Defines = map[string]string{"DIM": strconv.Itoa(dim)}
		var err error
		if t.by[dim], err = compile(q, src); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Float32 writes the gradients of a loss by q, k and v.
func (t *Backward) Float32(to Gradients[float32], from Forward[float32], dOut device.Buffer[float32], s attn.Shape) error {
	if err := Check(to, from, dOut, s); err != nil {
		return err
	}
	k, scale, group := t.by[s.Dim], 1/math.Sqrt(float64(s.Dim)), s.Heads/s.KVHeads
	err := t.queue.Launch(k.keys, grid(s.SeqK, s.Batch*s.KVHeads, s.Dim), from.Q, from.K, from.V, from.Out, from.LSE, dOut,
		to.DK, to.DV, s.SeqQ, s.SeqK, group, s.Causal, scale)
	if err != nil {
		return err
	}
	return t.queue.Launch(k.queries, grid(s.SeqQ, s.Batch*s.Heads, s.Dim), from.Q, from.K, from.V, from.Out, from.LSE, dOut,
		to.DQ, s.SeqQ, s.SeqK, group, s.Causal, scale)
}

// grid is a block for each tile of the rows whose sums a kernel owns, in each head.
func grid(rows, heads, dim int) device.Launch {
	return device.Launch{Grid: device.D2((rows+tile-1)/tile, heads), Block: device.D1(threads), Shared: shared(dim)}
}

// shared is the bytes of kernels.cu's struct Tiles.
func shared(dim int) int { return 4 * (4*tile*(dim+4) + 2*tile*(tile+16) + 2*tile) }
