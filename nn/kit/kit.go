// Package kit has the pieces of a small Llama's decoding step, whose weights and cache may have four
// bits: plain kernels, right and slow. Bonus task b9 puts a model together from them.
//
// Every method checks the sizes of its buffers, and launches one kernel. None allocates, and what
// changes from step to step is read from device memory: so all of them can be recorded as a graph.
package kit

import (
	"fmt"
	"math"

	"flashlab/device"
)

// What the methods work on. Activations are float32, weights and caches halves or less.
type (
	Floats = device.Buffer[float32]
	Halves = device.Buffer[device.Float16]
	Ints   = device.Buffer[int32]
	Bytes  = device.Buffer[uint8]
)

// kernels are those of each file.
var kernels = map[string][]string{
	"kernels.cu":   {"embed", "rms_norm", "multiply", "rotate", "add", "gated"},
	"weights.cu":   {"pack", "multiply_four"},
	"attention.cu": {"append", "close_group", "attend", "attend_kivi"},
}

// block is the threads of a block where each works by itself.
const block = 64

// Kit holds the compiled kernels of one device.
type Kit struct {
	queue   device.Queue
	kernels map[string]device.Kernel
}

// New compiles them.
func New(q device.Queue) (*Kit, error) {
	k := &Kit{queue: q, kernels: map[string]device.Kernel{}}
	for file, names := range kernels {
		module, err := q.Compile(device.Source{Folder: "nn/kit", Name: file})
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if k.kernels[name], err = module.Kernel(name); err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// each launches a thread for each of n things.
func (k *Kit) each(kernel string, n int, args ...any) error {
	return k.queue.Launch(k.kernels[kernel], device.Launch{Grid: device.D1((n + block - 1) / block), Block: device.D1(block)}, args...)
}

// size is a buffer's, and what it should be.
type size struct {
	name      string
	got, want int
}

func check(what string, sizes ...size) error {
	for _, s := range sizes {
		if s.got != s.want {
			return fmt.Errorf("%s: %s holds %d elements, want %d", what, s.name, s.got, s.want)
		}
	}
	return nil
}

// Embed writes the rows of the new tokens [Batch], x [Batch, Hidden] of table [Vocabulary, Hidden].
func (k *Kit) Embed(x Floats, tokens Ints, table Halves, c Config) error {
	if err := check("Embed", size{"x", x.Len(), c.Batch * c.Hidden}, size{"tokens", tokens.Len(), c.Batch},
		size{"table", table.Len(), c.Vocabulary * c.Hidden}); err != nil {
		return err
	}
	return k.each("embed", x.Len(), x, tokens, table, c.Batch, c.Hidden, c.Vocabulary)
}

// Norm writes RMSNorm of each row: out = x / √(mean of x² + Epsilon) · gain. x and out are [Batch, Hidden], gain [Hidden].
func (k *Kit) Norm(out, x Floats, gain Halves, c Config) error {
	if err := check("Norm", size{"x", x.Len(), c.Batch * c.Hidden}, size{"out", out.Len(), c.Batch * c.Hidden}, size{"gain", gain.Len(), c.Hidden}); err != nil {
		return err
	}
	return k.queue.Launch(k.kernels["rms_norm"], device.Launch{Grid: device.D1(c.Batch), Block: device.D1(32)}, out, x, gain, c.Hidden, float32(Epsilon))
}

// Multiply writes y [batch, outputs] = x [batch, inputs] · w [outputs, inputs] transposed. The three sizes follow from
// the buffers' and the batch.
func (k *Kit) Multiply(y, x Floats, w Halves, batch int) error {
	inputs, outputs, err := sides("Multiply", y, x, batch)
	if err != nil {
		return err
	}
	if err := check("Multiply", size{"w", w.Len(), inputs * outputs}); err != nil {
		return err
	}
	return k.each("multiply", y.Len(), y, x, w, batch, inputs, outputs)
}

func sides(what string, y, x Floats, batch int) (inputs, outputs int, err error) {
	if batch < 1 || x.Len()%batch != 0 || y.Len()%batch != 0 {
		return 0, 0, fmt.Errorf("%s: x and y hold %d and %d elements: want whole rows of a batch of %d", what, x.Len(), y.Len(), batch)
	}
	return x.Len() / batch, y.Len() / batch, nil
}

// Rotate turns the queries and keys in qkv [Batch, (Heads + 2 KVHeads) × Dim] by their positions, which are lengths [Batch].
func (k *Kit) Rotate(qkv Floats, lengths Ints, c Config) error {
	if err := check("Rotate", size{"qkv", qkv.Len(), c.Batch * c.QKV()}, size{"lengths", lengths.Len(), c.Batch}); err != nil {
		return err
	}
	n := c.Batch * (c.Heads + c.KVHeads) * c.Dim / 2
	return k.each("rotate", n, qkv, lengths, c.Batch, c.Heads, c.KVHeads, c.Dim, math.Log2(Base))
}

// Add adds y to x.
func (k *Kit) Add(x, y Floats) error {
	if err := check("Add", size{"y", y.Len(), x.Len()}); err != nil {
		return err
	}
	return k.each("add", x.Len(), x, y, x.Len())
}

// Gated writes silu(gate) · up, out [Batch, MLP]. A row of both [Batch, 2 × MLP] has the gate's numbers first.
func (k *Kit) Gated(out, both Floats, c Config) error {
	if err := check("Gated", size{"out", out.Len(), c.Batch * c.MLP}, size{"both", both.Len(), 2 * c.Batch * c.MLP}); err != nil {
		return err
	}
	return k.each("gated", out.Len(), out, both, c.Batch, c.MLP)
}
