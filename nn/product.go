package nn

// pieces.cu and product.cu are written for these; macros pass the blocks and slab on
// (defines.go).
const (
	splitBlock   = 256 // threads, a warp for each line
	productBlock = 128
	slab         = 32      // numbers of a line that are staged together
	smallAtOnce  = 3       // blocks of product_64 that a processor holds
	worthwhile   = 1 << 26 // products, below which gemm.cu is as fast, and simpler
)

// onTensorCores tells whether a layer with many rows goes to product.
func (l *Layers) onTensorCores(j job) bool {
	return j.rows*j.in*j.width >= l.worthwhile
}

// product makes halves of x and w, and multiplies them on tensor cores. If that gives
// fewer blocks than the processors hold, each sum is split among several blocks.
func (l *Layers) product(j job) error {
	if l.hopper != nil {
		return l.hopperProduct(j)
	}
	kernel, tile, stages := "product_128", largeTile, 3
	blocks := func() int { return tiles(j.rows, tile) * tiles(j.width, tile) * j.parts }
	if blocks() < 2*l.processors {
		kernel, tile, stages = "product_64", smallTile, 4
	}
	slabs := tiles(j.in, slab)
	splits := max(1, min(smallAtOnce*l.processors/blocks(), slabs/minSlabs))
	partial := 1 // never read, but it must be somewhere
	if splits > 1 {
		partial = j.parts * splits * j.rows * j.width
	}

	w, err := l.halves(j, tiles(j.rows, tile)*tile, tiles(j.width, tile)*tile) // zeros fill the last tile
	if err != nil {
		return err
	}
	s := l.scratch
	if err := atLeast(l.queue, &s.partial, "partial sums", partial); err != nil {
		return err
	}
	aligned := wide(j.width, append(j.out[:], s.partial)...)
	err = l.grid(kernel, blocks()/j.parts, splits, j.parts, productBlock, stages*2*tile*slab*4,
		s.x, w.halves, s.xBack, w.back, j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2], s.partial,
		j.rows, j.width, slabs, w.padded, j.biased, int(j.then), aligned)
	if err != nil || splits == 1 {
		return err
	}
	size := j.rows * j.width
	return l.grid("add_up", tiles(size, block), j.parts, 1, block, 0, s.partial,
		j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2], size, j.width, splits, j.biased, int(j.then))
}

// minSlabs is the fewest slabs a split has, because filling its stages takes time.
const minSlabs = 6

// halves makes those of x, in so many rows, into the scratch; and those of w, with so many lines for each layer, unless they
// are there already.
func (l *Layers) halves(j job, rows, padded int) (w *Cut, err error) {
	s := l.scratch
	if err := atLeast(l.queue, &s.x, "halves of x", rows*tiles(j.in, slab)*slab); err != nil {
		return nil, err
	}
	if err := atLeast(l.queue, &s.xBack, "scales of x", rows); err != nil {
		return nil, err
	}
	if l.cut != nil {
		return l.cut, l.split(j, rows, &Cut{in: j.in, halves: l.cut.halves, back: l.cut.back})
	}
	w = &Cut{of: j.w, parts: j.parts, in: j.in, width: j.width, padded: padded}
	if err := atLeast(l.queue, &s.w, "halves of w", w.lines()*w.whole()); err != nil {
		return nil, err
	}
	if err := atLeast(l.queue, &s.wBack, "scales of w", w.lines()); err != nil {
		return nil, err
	}
	w.halves, w.back = s.w, s.wBack
	return w, l.split(j, rows, w)
}

// split makes halves of rows of x, of which those behind j's are zeros, and of all that w has.
func (l *Layers) split(j job, rows int, w *Cut) error {
	x, xBack := l.scratch.x, l.scratch.xBack
	if rows == 0 {
		x, xBack = w.halves, w.back // never written
	}
	return l.launch("split_lines", tiles(rows+w.lines(), splitBlock/32), splitBlock, j.x, j.w[0], j.w[1], j.w[2],
		x, xBack, w.halves, w.back, j.rows, rows, j.width, w.padded, rows+w.lines(), j.in, j.aligned())
}
