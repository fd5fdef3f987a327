package unfused

import (
	"fmt"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// Sizes that kernels.cu is compiled for, with the macros that hand them on (sizes).
const (
	softmaxThreads = 512 // THREADS_SOFTMAX: of a softmax's block
	kept           = 32  // MOST: elements of a row that a thread of softmax keeps
	tile           = 64  // TILE: a product's block computes tile × tile results
	depth          = 16  // DEPTH: terms of the sums that are staged at a time
	side           = 16  // SIDE: a product's block has side × side threads

	// Of large products: the last section of kernels.cu.
	square        = 128     // SQUARE: side of a block's square of results
	piecesThreads = 128     // THREADS_PIECES: of such a block, 2 × 2 warps
	splitThreads  = 256     // THREADS_SPLIT: of transpose's and split's block
	slab          = 32      // SLAB: numbers of a line that are staged together
	stages        = 3       // STAGES: slabs in shared memory, or on their way there
	large         = 1 << 26 // multiplications, from which on they are faster
)

var sizes = map[string]int{
	"THREADS_SOFTMAX": softmaxThreads, "MOST": kept, "TILE": tile, "DEPTH": depth, "SIDE": side,
	"SQUARE": square, "THREADS_PIECES": piecesThreads, "THREADS_SPLIT": splitThreads, "SLAB": slab, "STAGES": stages,
}

const (
	maxLen  = softmaxThreads * kept // of a row of softmax
	maxGrid = 65535                 // blocks along y and z at most
)

// Attention holds the compiled kernels, and the scratch between them.
type Attention struct {
	queue           device.Queue
	mask            *Mask
	softmax         device.Kernel
	gemm            device.Kernel          // small products
	transpose       device.Kernel          // and large ones
	split           device.Kernel          // into pieces,
	gemmPieces      device.Kernel          // whose product this is
	large           int                    // multiplications that a large one has at least
	scores, weights device.Buffer[float32] // as long as the longest yet, like all scratch
	turned          device.Buffer[float32] // b, transposed
	pieces, backs   [2]device.Buffer[float32]
}

var _ attn.Unfused = (*Attention)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Attention, error) {
	a := &Attention{queue: q, large: large}
	src := Source
	src.Defines = map[string]string{}
	for name, size := range sizes {
		src.Defines[name] = strconv.Itoa(size)
	}
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	for name, kernel := range map[string]*device.Kernel{"softmax": &a.softmax, "gemm": &a.gemm,
		"transpose": &a.transpose, "split": &a.split, "gemm_pieces": &a.gemmPieces} {
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
	wide := s.Inner == 1 && s.Len%4 == 0 && dst.Memory().Addr%16 == 0 && src.Memory().Addr%16 == 0
	team := teamFor(s.Len)
	perBlock := softmaxThreads / team
	l := device.Launch{Grid: device.D1((s.Rows() + perBlock - 1) / perBlock), Block: device.D1(softmaxThreads)}
	return a.queue.Launch(a.softmax, l, src, dst, s.Rows(), s.Len, s.Inner, team, wide)
}

// teamFor is how many threads share a row: a warp at least, and as many as can
// keep all of it.
func teamFor(length int) int {
	team := 32
	for team*kept < length {
		team *= 2
	}
	return team
}

// Gemm writes c = x · y, with y stored transposed if the shape says so.
func (a *Attention) Gemm(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	if err := s.Check(c, x, y); err != nil {
		return err
	}
	if s.Batch*s.M*s.N*s.K >= a.large && s.Batch <= maxGrid && s.K <= 32*maxGrid {
		return a.onTensorCores(c, x, y, s)
	}
	grid := device.D3(blocks(s.N), blocks(s.M), s.Batch)
	if grid.Y > maxGrid || grid.Z > maxGrid {
		return fmt.Errorf("product of %v: more than %d blocks along y or z", s, maxGrid)
	}
	return a.queue.Launch(a.gemm, device.Launch{Grid: grid, Block: device.D1(side * side)}, x, y, c, s.M, s.N, s.K, s.TransB)
}

// onTensorCores writes c = x · y of pieces: halves, two for each number.
func (a *Attention) onTensorCores(c, x, y device.Buffer[float32], s attn.GemmShape) error {
	if !s.TransB {
		turned, err := a.scratch(&a.turned, "y transposed", y.Len())
		if err != nil {
			return err
		}
		l := device.Launch{Grid: device.D3(cover(s.N, 32), cover(s.K, 32), s.Batch), Block: device.D1(splitThreads)}
		if err := a.queue.Launch(a.transpose, l, y, turned, s.K, s.N); err != nil {
			return err
		}
		y = turned
	}
	var pieces, backs [2]device.Buffer[float32]
	for i, m := range []struct {
		of    device.Buffer[float32]
		lines int
	}{{x, s.M}, {y, s.N}} {
		padded := cover(m.lines, square) * square
		var err error
		if pieces[i], err = a.scratch(&a.pieces[i], "pieces", s.Batch*padded*cover(s.K, slab)*slab); err != nil {
			return err
		}
		if backs[i], err = a.scratch(&a.backs[i], "scales", s.Batch*padded); err != nil {
			return err
		}
		wide := s.K%4 == 0 && m.of.Memory().Addr%16 == 0
		l := device.Launch{Grid: device.D2(cover(padded, splitThreads/32), s.Batch), Block: device.D1(splitThreads)}
		if err := a.queue.Launch(a.split, l, m.of, pieces[i], backs[i], m.lines, padded, s.K, wide); err != nil {
			return err
		}
	}
	l := device.Launch{Grid: device.D2(cover(s.M, square)*cover(s.N, square), s.Batch), Block: device.D1(piecesThreads),
		Shared: stages * 2 * square * slab * 4}
	return a.queue.Launch(a.gemmPieces, l, pieces[0], pieces[1], backs[0], backs[1], c, s.M, s.N, cover(s.K, slab))
}

// blocks is how many tiles cover n lines.
func blocks(n int) int { return cover(n, tile) }

// cover is how many pieces of a size cover n.
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
