package flash

import (
	"fmt"
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// Flash holds the kernels. A rung's own file has its tiles, its kernels and what they take.
type Flash struct {
	queue   device.Queue
	tiles   Tiles
	kernels []sized
}

// sized is a kernel by its name, whose rows have room for dim numbers; by a macro, if defined.
type sized struct {
	name    string
	dim     int
	defined bool
	kernel  device.Kernel
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
	if wanted := t.wanted(); wanted != "" {
		return nil, fmt.Errorf("tiles of %d queries and %d keys: %s", t.Queries, t.Keys, wanted)
	}
	f := &Flash{queue: q, tiles: t}
	for _, one := range entries {
		src := Source
		src.Defines = map[string]string{"BR": strconv.Itoa(t.Queries), "BC": strconv.Itoa(t.Keys)}
		if one.defined {
			src.Defines["DIM"] = strconv.Itoa(one.dim)
		}
		module, err := q.Compile(src)
		if err != nil {
			return nil, err
		}
		if one.kernel, err = module.Kernel(one.name); err != nil {
			return nil, err
		}
		f.kernels = append(f.kernels, one)
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
	for _, one := range f.kernels {
		if s.Dim <= one.dim {
			l := device.Launch{Grid: device.D1(f.tiles.blocks(s)), Block: device.D1(f.tiles.threads()), Shared: f.tiles.shared(one.dim)}
			return f.launch(one.kernel, l, out, q, k, v, s)
		}
	}
	return fmt.Errorf("attention of %v: the head dimension is at most 128", s)
}

func (f *Flash) launch(kernel device.Kernel, l device.Launch, out, q, k, v device.Buffer[float32], s attn.Shape) error {
	args := []any{q, k, v, out}
	if heedless {
		args = append(args, s.Batch*s.Heads*s.SeqQ)
	}
	args = append(args, s.SeqQ, s.SeqK, s.Dim, s.Causal)
	if fours {
		wide := s.Dim%4 == 0 // then every row starts at a multiple of 16 bytes, if the first does
		for _, b := range []device.Buffer[float32]{out, q, k, v} {
			wide = wide && b.Memory().Addr%16 == 0
		}
		args = append(args, wide)
	}
	return f.queue.Launch(kernel, l, append(args, math.Log2E/math.Sqrt(float64(s.Dim)))...)
}

// blocks is how many share out the queries: those of one head, or all of them.
func (t Tiles) blocks(s attn.Shape) int {
	if heedless {
		return (s.Batch*s.Heads*s.SeqQ + t.Queries - 1) / t.Queries
	}
	return (s.SeqQ + t.Queries - 1) / t.Queries * s.Batch * s.Heads
}
