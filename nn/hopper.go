package nn

import (
	"flashlab/device"
	"flashlab/tensor"
)

// hopper.cu is written for these.
const (
	hopperThreads = 3 * 128 // one warpgroup asks for numbers, two multiply
	fullEnough    = 4       // a product that fills fewer than a quarter of the processors is split by product.cu instead
)

// hopperTile is one of its kernels: rows of x in a tile, and stages.
type hopperTile struct {
	kernel       string
	rows, stages int
}

// Of tiles that are done at the same time the first is chosen: the larger ones read less.
var hopperTiles = []hopperTile{{"hopper_256", 256, 4}, {"hopper_128", 128, 6}}

// count is how many tiles the results have.
func (t hopperTile) count(j job) int {
	return tiles(j.rows, t.rows) * tiles(j.width, largeTile) * j.parts
}

// time is that of the processor with the most tiles, in rows of them.
func (t hopperTile) time(j job, processors int) int { return tiles(t.count(j), processors) * t.rows }

// shared is the bytes of a block: slabs of x and w, and what is skipped so that they begin at a multiple of 1024.
func (t hopperTile) shared() int { return t.stages*(t.rows+largeTile)*slab*4 + 1024 }

// hopperTile is the kernel that is done first, if there is one for the device and this product.
func (l *Layers) hopperTile(j job) (hopperTile, bool) {
	best := hopperTiles[0]
	for _, t := range hopperTiles {
		if t.time(j, l.processors) < best.time(j, l.processors) {
			best = t
		}
	}
	return best, l.hopper && best.count(j)*fullEnough >= l.processors
}

// hopperProduct makes halves of x and w, and multiplies them by hopper.cu.
func (l *Layers) hopperProduct(j job, t hopperTile) error {
	slabs := tiles(j.in, slab)
	rows, width := tiles(j.rows, largeTile)*largeTile, tiles(j.width, largeTile)*largeTile
	if err := l.split(j, rows, width, slabs); err != nil {
		return err
	}
	s, line := l.scratch, []int{slabs * slab * 2, rows}
	x, err := device.NewTensorMap(s.x.Memory(), tensor.Float16, line, []int{2 * slab, t.rows}, 128)
	if err != nil {
		return err
	}
	w, err := device.NewTensorMap(s.w.Memory(), tensor.Float16, []int{line[0], j.parts * width}, []int{2 * slab, largeTile}, 128)
	if err != nil {
		return err
	}
	return l.grid(t.kernel, min(t.count(j), l.processors), 1, 1, hopperThreads, t.shared(), x, w, s.xBack, s.wBack,
		j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2], j.rows, j.width, slabs, width, j.parts, j.biased, int(j.then),
		wide(j.width, j.out[:]...))
}
