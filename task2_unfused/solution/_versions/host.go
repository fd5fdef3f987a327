package unfused

import (
	"fmt"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// maxGrid is the blocks along y and z at most.
const maxGrid = 65535

// Attention holds the compiled kernels, and the scratch between them. A rung's own file has the sizes
// that its kernels are compiled for, and says how softmax is launched.
type Attention struct {
	queue           device.Queue
	mask            *Mask
	kernels         map[string]device.Kernel
	scores, weights device.Buffer[float32] // as long as the longest yet
}

var _ attn.Unfused = (*Attention)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Attention, error) {
	a := &Attention{queue: q, kernels: map[string]device.Kernel{}}
	src := Source
	src.Defines = map[string]string{}
	for name, size := range sizes {
		src.Defines[name] = strconv.Itoa(size)
	}
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{"gemm_nt", "gemm_nn"}, softmaxes...) {
		if a.kernels[name], err = module.Kernel(name); err != nil {
			return nil, err
		}
	}
	a.mask, err = NewMask(q)
	return a, err
}

// Softmax writes to dst the softmax of src along the dimension Len.
func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	if err := s.Check(dst, src); err != nil {
		return err
	}
	if s.Len > maxLen {
		return fmt.Errorf("softmax of %v: a row has at most %d elements", s, maxLen)
	}
	return a.softmax(dst, src, s)
}

// Gemm writes c = x · y, with y stored transposed if the shape says so.
func (a *Attention) Gemm(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	if err := s.Check(c, x, y); err != nil {
		return err
	}
	grid := device.D3(cover(s.N, tile), cover(s.M, tile), s.Batch)
	if grid.Y > maxGrid || grid.Z > maxGrid {
		return fmt.Errorf("product of %v: more than %d blocks along y or z", s, maxGrid)
	}
	kernel := a.kernels["gemm_nn"]
	if s.TransB {
		kernel = a.kernels["gemm_nt"]
	}
	return a.queue.Launch(kernel, device.Launch{Grid: grid, Block: square}, x, y, c, s.M, s.N, s.K)
}

// cover is how many blocks of a size cover n.
func cover(n, size int) int { return (n + size - 1) / size }

// Run writes softmax(q·kᵀ/√Dim)·v to out, step by step.
func (a *Attention) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	if err := s.Check(out, q, k, v); err != nil {
		return err
	}
	if s.KVHeads != s.Heads {
		return fmt.Errorf("attention of %v: this one needs as many key heads as query heads", s)
	}
	matrices := s.Batch * s.Heads // every head is a problem of its own
	scores, err := a.scratch(&a.scores, "scores", matrices*s.SeqQ*s.SeqK)
	if err != nil {
		return err
	}
	weights, err := a.scratch(&a.weights, "weights", scores.Len())
	if err != nil {
		return err
	}

	// 1. scores = q·kᵀ: k [SeqK, Dim] is kᵀ stored transposed.
	if err := a.Gemm(scores, q, k, attn.GemmShape{Batch: matrices, M: s.SeqQ, N: s.SeqK, K: s.Dim, TransB: true}); err != nil {
		return err
	}
	// 2. Divided by √Dim, and masked.
	if err := a.mask.Apply(scores, s); err != nil {
		return err
	}
	// 3. weights = softmax(scores), a row for each query.
	if err := a.Softmax(weights, scores, attn.SoftmaxShape{Outer: matrices * s.SeqQ, Len: s.SeqK, Inner: 1}); err != nil {
		return err
	}
	// 4. out = weights·v.
	return a.Gemm(out, weights, v, attn.GemmShape{Batch: matrices, M: s.SeqQ, N: s.Dim, K: s.SeqK})
}

// scratch returns the first n elements of a buffer, which it makes anew where
// it is too short: once things have run, Run allocates nothing.
func (a *Attention) scratch(b *device.Buffer[float32], name string, n int) (device.Buffer[float32], error) {
	if b.Len() < n {
		if b.Len() > 0 {
			if err := b.Free(a.queue); err != nil {
				return *b, err
			}
		}
		var err error
		if *b, err = device.Alloc[float32](a.queue, name, n); err != nil {
			return *b, err
		}
	}
	return b.Slice(0, n)
}
