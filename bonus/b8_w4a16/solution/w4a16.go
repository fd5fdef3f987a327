package w4a16

import (
	"fmt"

	"flashlab/device"
)

const (
	threads = 256     // of a block of lay
	pair    = 2       // tiles of a block of row.cu
	many    = 264     // blocks of rows that share k at most
	few     = 1 << 17 // weights for each processor: every block has but a step or two
)

// What stream.cu has, which serves up to 16 rows: threads, numbers of k that a block has room for, and bytes of two tiles of
// weights and of two turns' shares.
const (
	streamRows    = 16
	streamThreads = 512
	streamK       = 4096
	streamShared  = 2*32*1072 + 2*16*1024
)

// What hopper.cu has: threads, outputs of a block, and bytes of four stages of x, which begin at multiples of 1024.
const (
	hopperThreads = 384
	hopperOutputs = 128
	hopperShared  = 4*64*256 + 1024
)

// way is one of kernels.cu's, for several rows: its warps, by outputs and by
// shares of k, tiles of 16 outputs of a warp, of eight rows of x, and stages of x.
type way struct {
	name                        string
	nw, kw, tiles, wide, stages int
}

var ways = []way{{"rows16few", 4, 4, 2, 2, 3}, {"rows16", 4, 2, 2, 2, 4}, {"rows64", 8, 2, 1, 8, 3}}

// shared is the bytes of shared memory that kernels.cu lays out: stages of x, and later a block's
// shares of the sums.
func (w way) shared() int {
	return max(w.stages*w.wide*w.kw*2048, (w.kw-1)*w.nw*w.tiles*w.wide*512)
}

// W4A16 holds the kernels, on a GPU of Hopper's kind stream.cu's and hopper.cu's as well, and room for what blocks find
// that share k, and for how many are done. No other W4A16 has the same: two queues may run these kernels at once, each
// with a W4A16 of its own.
type W4A16 struct {
	queue                device.Queue
	lay, rowFew, rowMany device.Kernel
	rows                 []device.Kernel // one for each way
	hopper               bool
	streamed, wgmma      device.Kernel // with hopper
	between              device.Buffer[float32]
	done                 device.Buffer[uint32] // zeros; each launch leaves them so
}

// New compiles the kernels for one device. No other GPU has wgmma, older or newer.
func New(q device.Queue) (*W4A16, error) { return newFor(q, q.Info().Arch == "sm_90") }

func newFor(q device.Queue, hopper bool) (*W4A16, error) {
	t := &W4A16{queue: q, rows: make([]device.Kernel, len(ways)), hopper: hopper}
	names := map[string]*device.Kernel{"lay": &t.lay}
	size := 0
	for i, w := range ways {
		names[w.name] = &t.rows[i]
		size = max(size, w.nw*w.tiles*w.wide*128)
		if have := q.Info().MaxShared; w.shared() > have {
			return nil, fmt.Errorf("%s needs %d bytes of shared memory, and a block has at most %d here", w.name, w.shared(), have)
		}
	}
	if err := compile(q, Source, names); err != nil {
		return nil, err
	}
	if err := compile(q, RowSource, map[string]*device.Kernel{"row_few": &t.rowFew, "row_many": &t.rowMany}); err != nil {
		return nil, err
	}
	if hopper {
		if err := compile(q, StreamSource, map[string]*device.Kernel{"stream16": &t.streamed}); err != nil {
			return nil, err
		}
		if err := compile(q, HopperSource, map[string]*device.Kernel{"rows_hopper": &t.wgmma}); err != nil {
			return nil, err
		}
	}
	var err error
	if t.between, err = device.Alloc[float32](q, "what blocks find", many*size); err != nil {
		return nil, err
	}
	t.done, err = device.Upload(q, "blocks that are done", make([]uint32, many))
	return t, err
}

func compile(q device.Queue, src device.Source, names map[string]*device.Kernel) error {
	module, err := q.Compile(src)
	if err != nil {
		return err
	}
	for name, kernel := range names {
		if *kernel, err = module.Kernel(name); err != nil {
			return err
		}
	}
	return nil
}

func over(n, each int) int { return (n + each - 1) / each }

// Lay writes the weights to to in the order of fragments.
func (t *W4A16) Lay(to Laid, w Weights, s Shape) error {
	if err := s.CheckLay(to, w); err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(over(s.Tiles()*s.K/64, threads/32)), Block: device.D1(threads)}
	return t.queue.Launch(t.lay, l, w.Codes, w.Scales, w.Zeros, to.Codes, to.Scales, to.Zeros, s.K, s.N)
}

// Row multiplies one row. A block for each processor has 16 warps; of more blocks, with 8, two fit.
func (t *W4A16) Row(y, x Halves, w Weights, s Shape) error {
	if err := w.Check(y, x, s); err != nil {
		return err
	}
	kernel, warps, blocks := t.rowFew, 16, over(s.Tiles(), pair)
	if blocks > t.queue.Info().Processors {
		kernel, warps = t.rowMany, 8
	}
	l := device.Launch{Grid: device.D1(blocks), Block: device.D1(32 * warps), Early: true}
	return t.queue.Launch(kernel, l, x, w.Codes, w.Scales, w.Zeros, y, s.K, s.N)
}

// Rows multiplies up to 64 rows.
func (t *W4A16) Rows(y, x Halves, w Laid, s Shape) error {
	if err := w.Check(y, x, s); err != nil {
		return err
	}
	kernel, l := t.choose(s)
	return t.queue.Launch(kernel, l, x, w.Codes, w.Scales, w.Zeros, y, t.between, t.done, s.Rows, s.K, s.N)
}

// choose takes the fastest kernel for so many rows. Beyond streamK, blocks of stream.cu would have to share k, and
// kernels.cu is as fast.
func (t *W4A16) choose(s Shape) (device.Kernel, device.Launch) {
	switch {
	case t.hopper && s.Rows > streamRows:
		return t.wgmma, t.hopperLaunch(s)
	case t.hopper && s.K <= streamK:
		blocks := min(s.Tiles(), t.queue.Info().Processors)
		return t.streamed, device.Launch{Grid: device.D1(blocks), Block: device.D1(streamThreads), Shared: streamShared, Early: true}
	}
	i := 0
	if s.K*s.N > few*t.queue.Info().Processors {
		i = 1
	}
	for s.Rows > 8*ways[i].wide {
		i++
	}
	by := ways[i]
	blocks := over(s.Tiles(), by.nw*by.tiles)
	l := device.Launch{Grid: device.D2(blocks, parts(blocks, s.K)), Block: device.D1(32 * by.nw * by.kw), Shared: by.shared(), Early: true}
	return t.rows[i], l
}

// parts is how many blocks share k: as many as fill a large GPU, but each should have some steps.
func parts(blocks, k int) int { return max(1, min(many/blocks, k/1024)) }

// hopperLaunch has a block for each processor at most, where blocks share k: two do not fit on one.
func (t *W4A16) hopperLaunch(s Shape) device.Launch {
	blocks := over(s.N, hopperOutputs)
	parts := max(1, min(t.queue.Info().Processors/blocks, many/blocks, s.K/512))
	return device.Launch{Grid: device.D2(blocks, parts), Block: device.D1(hopperThreads), Shared: hopperShared, Early: true}
}
