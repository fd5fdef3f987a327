package unfused

import (
	"fmt"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// Sizes that kernels.cu is compiled for.
const (
	softmaxThreads = 512 // THREADS_SOFTMAX: of a softmax's block at most
	tile           = 64  // TILE: a product's block computes tile × tile results
	depth          = 16  // DEPTH: terms of the sums that are staged at a time
	side           = 16  // SIDE: a product's block has side × side threads
)

const (
	minBlock = 32    // a warp of softmax: fewer threads would leave lanes idle
	maxLen   = 16384 // a row is staged in shared memory: 64 KB
	maxGrid  = 65535 // blocks along y and z at most
)

// Attention holds the compiled kernels, and the scratch between them.
type Attention struct {
	queue                   device.Queue
	mask                    *Mask
	softmax, gemmNT, gemmNN device.Kernel
	scores, weights         device.Buffer[float32] // as long as the longest yet
}

var _ attn.Unfused = (*Attention)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Attention, error) {
	a := &Attention{queue: q}
	src := Source
	src.Defines = map[string]string{
		"THREADS_SOFTMAX": strconv.Itoa(softmaxThreads), "TILE": strconv.Itoa(tile),
		"DEPTH": strconv.Itoa(depth), "SIDE": strconv.Itoa(side),
	}
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	for name, kernel := range map[string]*device.Kernel{"softmax": &a.softmax, "gemm_nt": &a.gemmNT, "gemm_nn": &a.gemmNN} {
		if *kernel, err = module.Kernel(name); err != nil {
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
	l := device.Launch{
		Grid:   device.D1(s.Rows()),
		Block:  device.D1(blockFor(s.Len)),
		Shared: s.Len * 4, // the staged row
	}
	return a.queue.Launch(a.softmax, l, src, dst, s.Len, s.Inner)
}

// blockFor picks the threads of a block: the smallest power of two that covers
// the row, within the limits. Longer rows give each thread several elements.
func blockFor(length int) int {
	block := minBlock
	for block < length && block < softmaxThreads {
		block *= 2
	}
	return block
}

// Gemm writes c = x · y, with y stored transposed if the shape says so.
func (a *Attention) Gemm(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	if err := s.Check(c, x, y); err != nil {
		return err
	}
	grid := device.D3(blocks(s.N), blocks(s.M), s.Batch)
	if grid.Y > maxGrid || grid.Z > maxGrid {
		return fmt.Errorf("product of %v: more than %d blocks along y or z", s, maxGrid)
	}
	kernel := a.gemmNN
	if s.TransB {
		kernel = a.gemmNT
	}
	return a.queue.Launch(kernel, device.Launch{Grid: grid, Block: device.D1(side * side)}, x, y, c, s.M, s.N, s.K)
}

// blocks is how many tiles cover n lines.
func blocks(n int) int { return (n + tile - 1) / tile }

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
