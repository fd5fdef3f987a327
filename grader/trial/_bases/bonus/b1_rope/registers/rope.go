package rope

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// A block has 64 queries, and takes 64 keys at a time.
const (
	queries = 64
	keys    = 64
	threads = 256
)

// Rope holds the kernels: for head dimensions up to 64, and up to 128.
type Rope struct {
	queue        device.Queue
	narrow, wide device.Kernel
}

// New compiles the kernels for one device.
func New(q device.Queue) (*Rope, error) {
	t := &Rope{queue: q}
	for dim, kernel := range map[int]*device.Kernel{64: &t.narrow, 128: &t.wide} {
		src := Source
		src.Defines = map[string]string{"BR": strconv.Itoa(queries), "BC": strconv.Itoa(keys), "DIM": strconv.Itoa(dim)}
		module, err := q.Compile(src)
		if err != nil {
			return nil, err
		}
		if *kernel, err = module.Kernel("rope"); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Run writes softmax(rot(q)·rot(k)ᵀ/√Dim)·v to out.
func (t *Rope) Run(out, q, k, v device.Buffer[float32], start attn.PerSequence, s attn.Shape, r Rotation) error {
	if err := r.Check(out, q, k, v, start, s); err != nil {
		return err
	}
	kernel, dim := t.narrow, 64
	if s.Dim > dim {
		kernel, dim = t.wide, 128
	}
	blocks := (s.SeqQ + queries - 1) / queries * s.Batch * s.Heads
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(threads), Shared: shared(dim)}
	factor := math.Log2E / math.Sqrt(float64(s.Dim))
	return t.queue.Launch(kernel, l, q, k, v, start.Device, out, s.Heads, s.SeqQ, s.SeqK, s.Dim, s.Causal, r.Neighbours, math.Log2(r.Base), factor)
}

// shared is the bytes of shared memory that kernels.cu lays out as Tiles: queries,
// keys, which probabilities take the place of, and values.
func shared(dim int) int {
	pitch := dim + 4
	return 4 * (queries*pitch + max(keys*pitch, queries*(keys+4)) + keys*pitch)
}
