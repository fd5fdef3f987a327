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
	if t, ok := l.hopperTile(j); ok {
		return l.hopperProduct(j, t)
	}
	kernel, tile, stages := "product_128", largeTile, 3
	blocks := func() int { return tiles(j.rows, tile) * tiles(j.width, tile) * j.parts }
	if blocks() < 2*l.processors {
		kernel, tile, stages = "product_64", smallTile, 4
	}
	slabs := tiles(j.in, slab)
	splits := max(1, min(smallAtOnce*l.processors/blocks(), slabs/minSlabs))
	rows, width := tiles(j.rows, tile)*tile, tiles(j.width, tile)*tile // zeros fill the last tile
	partial := 1                                                       // never read, but it must be somewhere
	if splits > 1 {
		partial = j.parts * splits * j.rows * j.width
	}

	if err := l.split(j, rows, width, slabs); err != nil {
		return err
	}
	s := l.scratch
	if err := atLeast(l.queue, &s.partial, "partial sums", partial); err != nil {
		return err
	}
	aligned := wide(j.width, append(j.out[:], s.partial)...)
	err := l.grid(kernel, rows/tile*(width/tile), splits, j.parts, productBlock, stages*2*tile*slab*4,
		s.x, s.w, s.xBack, s.wBack, j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2], s.partial,
		j.rows, j.width, slabs, width, j.biased, int(j.then), aligned)
	if err != nil || splits == 1 {
		return err
	}
	size := j.rows * j.width
	return l.grid("add_up", tiles(size, block), j.parts, 1, block, 0, s.partial,
		j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2], size, j.width, splits, j.biased, int(j.then))
}

// minSlabs is the fewest slabs a split has, because filling its stages takes time.
const minSlabs = 6

// split makes halves of x and of each w, with zeros up to so many rows, columns of the result and slabs.
func (l *Layers) split(j job, rows, width, slabs int) error {
	s := l.scratch
	for _, b := range []struct {
		to   *Floats
		name string
		n    int
	}{
		{&s.x, "halves of x", rows * slabs * slab}, {&s.xBack, "scales of x", rows},
		{&s.w, "halves of w", j.parts * width * slabs * slab}, {&s.wBack, "scales of w", j.parts * width},
	} {
		if err := atLeast(l.queue, b.to, b.name, b.n); err != nil {
			return err
		}
	}
	return l.launch("split_lines", tiles(rows+j.parts*width, splitBlock/32), splitBlock, j.x, j.w[0], j.w[1], j.w[2],
		s.x, s.xBack, s.w, s.wBack, j.rows, rows, j.width, width, j.in, j.aligned())
}
