package nn

import (
	"flashlab/device"
	"flashlab/tensor"
)

// hopper.cu is written for these.
const (
	hopperRows    = 128     // of a tile
	hopperThreads = 3 * 128 // one warpgroup asks for numbers, two multiply
	hopperStages  = 6
	mostSplits    = 4    // blocks of a cluster, which share a tile
	besides       = 1500 // columns of slabs that could be multiplied in the time that a block takes besides, about
)

// hopperColumns are those of its tiles, each compiled by itself.
var hopperColumns = []int{128, 96}

// sharing is how hopper.cu shares out a product: in tiles of so many columns, and each among so many blocks.
type sharing struct{ columns, splits int }

func (s sharing) blocks(j job) int {
	return tiles(j.rows, hopperRows) * tiles(j.width, s.columns) * j.parts * s.splits
}

// time is what the processor with the most blocks takes for them, in columns of slabs.
func (s sharing) time(j job, processors int) int {
	if s.splits > 2 { // not every processor has as many neighbours as that to make a cluster with
		processors = max(1, processors*7/8)
	}
	slabs := tiles(tiles(j.in, slab), s.splits)
	return tiles(s.blocks(j), processors) * (slabs*s.columns + besides)
}

// share chooses what is done first; of ways that take the same time, the one with the larger tiles.
func (l *Layers) share(j job) sharing {
	best := sharing{hopperColumns[0], 1}
	for _, columns := range hopperColumns {
		for splits := 1; splits <= min(mostSplits, tiles(j.in, slab)); splits++ {
			if s := (sharing{columns, splits}); s.time(j, l.processors) < best.time(j, l.processors) {
				best = s
			}
		}
	}
	return best
}

// shared is the bytes of a block: slabs of x and w, and what is skipped so that they begin at a multiple of 1024.
func (s sharing) shared() int { return hopperStages*(hopperRows+s.columns)*slab*4 + 1024 }

// hopperProduct is product by hopper.cu.
func (l *Layers) hopperProduct(j job) error {
	s, slabs := l.share(j), tiles(j.in, slab)
	w, err := l.halves(j, j.rows, j.width) // the copy engine fills up tiles with zeros
	if err != nil {
		return err
	}
	xMap, err := device.NewTensorMap(l.scratch.x.Memory(), tensor.Float16, []int{slabs * slab * 2, j.rows}, []int{2 * slab, hopperRows}, 128)
	if err != nil {
		return err
	}
	wMap, err := device.NewTensorMap(w.halves.Memory(), tensor.Float16, []int{slabs * slab * 2, j.parts * w.padded}, []int{2 * slab, s.columns}, 128)
	if err != nil {
		return err
	}
	at := device.Launch{Grid: device.D1(s.blocks(j)), Block: device.D1(hopperThreads), Shared: s.shared()}
	if s.splits > 1 {
		at.Cluster = device.D1(s.splits)
	}
	return l.queue.Launch(l.hopper[s.columns], at, xMap, wMap, l.scratch.xBack, w.back,
		j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2], j.rows, j.width, slabs, w.padded, j.biased, j.parts, int(j.then),
		wide(j.width, j.out[:]...))
}
