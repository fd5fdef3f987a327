package nn

import (
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/tensor"
)

// GELU writes out = x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))). out may be x.
func (l *Layers) GELU(out, x Floats) error {
	return l.apply("gelu", out, x)
}

// SwiGLU writes out = silu(gate) · up, where silu(g) = g / (1 + exp(−g)). out may be
// either of them.
func (l *Layers) SwiGLU(out, gate, up Floats) error {
	return l.apply("swiglu", out, gate, up)
}

// Add writes out = a + b. out may be either of them.
func (l *Layers) Add(out, a, b Floats) error {
	return l.apply("add", out, a, b)
}

// apply launches a kernel of elementwise.cu.
func (l *Layers) apply(kernel string, out Floats, in ...Floats) error {
	n := out.Len()
	what := func() string { return fmt.Sprintf("%s to %q, of %d elements", kernel, out.Name(), n) }
	args := make([]any, 0, 5)
	for i, x := range in {
		if err := check(what, []int{n}, of(fmt.Sprintf("input %d", i+1), x, n)); err != nil {
			return err
		}
		args = append(args, x)
	}
	args = append(args, out, n, wide(4, append(in, out)...))
	return l.each(kernel, tiles(n, 4), args...)
}

// Fill writes the numbers of tensor.Fill, from its first on, times scale: the same
// bits as in Go.
func (l *Layers) Fill(dst Floats, d tensor.Dist, seed uint64, stream uint32, scale float32) error {
	what := func() string { return fmt.Sprintf("fill %q", dst.Name()) }
	if err := check(what, []int{dst.Len()}); err != nil {
		return err
	}
	dist := slices.Index(tensor.Dists, d)
	if dist < 0 {
		return fmt.Errorf("%s: unknown distribution %q", what(), d)
	}
	return l.launch("fill", min(tiles(dst.Len(), 8*block), mostFilling), block, keyed(seed, stream, scale, dst, dst.Len(), dist)...)
}

// FillHalves is Fill in halves, each number rounded once.
func (l *Layers) FillHalves(dst device.Buffer[device.Float16], d tensor.Dist, seed uint64, stream uint32, scale float32) error {
	dist := slices.Index(tensor.Dists, d)
	if dist < 0 || dst.Len() < 1 {
		return fmt.Errorf("fill %q: %d elements, distribution %q: want at least one, of a known one", dst.Name(), dst.Len(), d)
	}
	bytes, err := device.BufferOf[uint8](dst.Memory())
	if err != nil {
		return err
	}
	return l.launch("fill_narrow", min(tiles(dst.Len(), 8*block), mostFilling), block, keyed(seed, stream, scale, bytes, dst.Len(), 16, dist)...)
}

// keyed are a fill's arguments: those of its own, the key in pairs of words, and the scale.
func keyed(seed uint64, stream uint32, scale float32, own ...any) []any {
	key := tensor.KeyOf(seed, stream)
	for i := 0; i < len(key); i += 2 {
		own = append(own, uint64(key[i])|uint64(key[i+1])<<32)
	}
	return append(own, scale)
}

// mostFilling bounds the blocks. A thread makes eight numbers at a time, and more than once beyond 128 million.
const mostFilling = 1 << 16

// FillAs writes the numbers of tensor.FillAs, from its first on, over all of dst.
func (l *Layers) FillAs(t tensor.Type, dst device.Memory, d tensor.Dist, seed uint64, stream uint32) error {
	if t == tensor.Float32 {
		b, err := device.BufferOf[float32](dst)
		if err != nil {
			return err
		}
		return l.Fill(b, d, seed, stream, 1)
	}
	dist, n := slices.Index(tensor.Dists, d), 0
	if err := t.Check(); err != nil {
		return fmt.Errorf("fill %q: %w", dst.Name, err)
	}
	if n = t.Elements(int(dst.Bytes)); n < 1 || t.Bytes(n) != int(dst.Bytes) || dist < 0 {
		return fmt.Errorf("fill %q: %d bytes of %v, distribution %q: want whole numbers of a known one", dst.Name, dst.Bytes, t, d)
	}
	bytes, err := device.BufferOf[uint8](dst)
	if err != nil {
		return err
	}
	bits := t.Bits()
	if t == tensor.BFloat16 || t == tensor.E8M0 {
		bits = -bits // what is there twice of so many bits
	}
	return l.launch("fill_narrow", min(tiles(n, 8*block), mostFilling), block, keyed(seed, stream, t.Unit(), bytes, n, bits, dist)...)
}
