package decoder

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/persistent"
)

// What step.cu is written for.
const (
	mostWarps   = 14      // of a block, that calculate: with the one that asks, 128 registers are left for each thread
	segment     = 1024    // numbers of a row that a warp multiplies, unless a row is longer than all have
	mostSums    = 1024    // sums that are kept until the block meets
	warpsOfFour = 12      // with four bits
	mostTiles   = 8       // of the gate, whose sums are kept with four bits, and as many of up
	mostParts   = 32      // of the keys: one for each lane that puts them together
	flight      = 2       // copies under way: more would delay what blocks send each other
	mostSlots   = 24      // of the ring, unless asked for: the simulator follows 64 mbarriers, and each slot has two
	tile        = 16      // rows of a chunk of four bits
	groups      = 32      // that it has of each
	fourGroup   = 128     // numbers of a group
	besides     = 1 << 10 // bytes of shared memory besides those that are counted
)

// Persistent says how a decoding step runs as one kernel. The zero value of each means what the device and the model
// suggest.
type Persistent struct {
	Blocks  int               // all live at once: at most as many as the device has processors
	Warps   int               // of a block, that calculate
	Segment int               // numbers of a row that a warp multiplies: a multiple of 8
	Slots   int               // of the ring: each takes a chunk
	Flight  int               // slots that copies are under way to, at most
	Splits  int               // parts of the keys
	Sums    int               // of a block, that are kept until its threads meet: twice so many, a half at a time with weights in halves
	Groups  int               // of 128 numbers, that a chunk has of a row of four bits
	Defines map[string]string // more macros, to try something
	bits    int               // of a layer's weights: 16, or 4
	strict  bool              // for the simulator
}

// oneKernel is the kernel, and what it works on.
type oneKernel struct {
	kernel    device.Kernel
	launch    device.Launch
	cache     device.TensorMap // [2 × Layers × Slots, KVHeads × Dim]
	addresses device.Buffer[uint64]
	arrived   device.Buffer[uint32]
	launches  device.Buffer[uint32]
	tagged    [5]device.Buffer[uint64] // numbers with tags: x, qkv, parts, mixed, inner
	best      nn.Floats                // of each block, the largest logit and its token
	bestAt    nn.Ints
}

// Persist makes decoding steps one cooperative kernel (persistent/step.cu) from now on. It needs a device with bulk
// copies, one sequence, weights in halves or laid ones of four bits, and the cache that the model's attention has; that attention serves prompts only.
func (m *Model) Persist(cache *Cache, p Persistent) error {
	c := m.Config
	p.bits = bitsOf(m.weights)
	fail := func(err error) error { return fmt.Errorf("a step as one kernel: %w", err) }
	if err := p.complete(c, m.Room, m.queue.Info()); err != nil {
		return fail(err)
	}
	module, err := m.queue.Compile(device.Source{Folder: "nn/half/decoder/persistent", Name: "step.cu", Defines: p.defines(c)})
	if err != nil {
		return fail(err)
	}
	one := &oneKernel{launch: device.Launch{Grid: device.D1(p.Blocks), Block: device.D1(32 * (p.Warps + 1)), Shared: 2*p.slot(c)*p.Slots + p.vector(c), Cooperative: true}}
	if one.kernel, err = module.Kernel("llama_step"); err != nil {
		return fail(err)
	}
	if err := one.allocate(m, cache, p); err != nil {
		return fail(err)
	}
	m.one = one
	return nil
}

// segments is how many a row of so many numbers has, and tall how many rows a chunk has.
func (p Persistent) segments(in int) int { return over(in, p.Segment) }
func (p Persistent) tall(in int) int     { return p.Warps / p.segments(in) }

func over(n, by int) int { return (n + by - 1) / by }

// together is how many rows of a matrix fall to a block at a time.
func (p Persistent) together() int {
	if p.bits == 4 {
		return tile
	}
	return 2
}

// vector is how many bytes of shared memory one has behind the ring: none with halves, of which warps keep their segments.
func (p Persistent) vector(c Config) int {
	if p.bits == 4 {
		return 2 * max(c.Hidden, c.Width(), c.MLP)
	}
	return 0
}

// slot is how many halves one has: whole rows of any matrix in halves, a tile of four bits, and at least a key and its value.
func (p Persistent) slot(c Config) int {
	most := max(2*c.Dim, p.tall(c.Hidden)*c.Hidden)
	if p.bits == 4 {
		most = max(most, p.Groups*tile*(fourGroup/2+2+1)/2)
	} else {
		most = max(most, p.tall(c.Width())*c.Width(), p.tall(c.MLP)*c.MLP)
	}
	return over(most, 64) * 64 // slots begin at multiples of 128 bytes
}

// CanPersist tells why steps of a model with layers of so many bits, 16 or 4, cannot be one kernel, if they cannot.
func CanPersist(c Config, r Room, bits int, info device.Info) error {
	return (&Persistent{bits: bits}).complete(c, r, info)
}

// complete fills in what was not chosen, and refuses what the kernel cannot do.
func (p *Persistent) complete(c Config, r Room, info device.Info) error {
	lanes := c.Dim / 8
	switch {
	case !persistent.CopiesInBulk(info):
		return fmt.Errorf("it takes bulk copies to shared memory, which GPUs have from Hopper on (sm_90); this one is %s", info.Arch)
	case r.Batch != 1:
		return fmt.Errorf("it takes one sequence, and here are %d", r.Batch)
	case c.Dim%8 != 0 || lanes > 32 || lanes&(lanes-1) != 0:
		return fmt.Errorf("heads have %d numbers, want 8, 16, 32, 64, 128 or 256", c.Dim)
	}
	or := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
	}
	p.strict = info.Kind == device.Sim
	inputs := []int{c.Hidden, c.Width(), c.MLP}
	together := p.together()
	pairs := min(c.Hidden/together, c.All()/together, c.MLP/together, c.Vocabulary/2)
	or(&p.Blocks, min(info.Processors, pairs))
	if p.Blocks < 1 || p.Blocks > pairs {
		return fmt.Errorf("%d blocks: want 1 to %d, %d rows of every matrix for each", p.Blocks, pairs, together)
	}
	inHalves := inputs // rows that warps multiply a segment at a time
	if p.bits == 4 {
		inHalves = []int{c.Hidden} // the head's
		or(&p.Warps, warpsOfFour)
	}
	or(&p.Warps, mostWarps)
	or(&p.Segment, max(segment, over(over(slices.Max(inHalves), p.Warps), 256)*256))
	or(&p.Groups, groups)
	if p.bits == 4 {
		or(&p.Sums, p.Warps*tile*min(mostTiles, over(c.MLP/tile, p.Blocks))) // the gate's tiles and up's
	}
	or(&p.Sums, mostSums)
	or(&p.Splits, max(1, min(p.Blocks*3/4/c.KVHeads, mostParts)))
	for _, in := range inHalves {
		if p.Segment < 1 || p.Segment%8 != 0 || p.segments(in) > p.Warps {
			return fmt.Errorf("%d warps and segments of %d numbers for a row of %d: want a warp for each segment, and multiples of 8", p.Warps, p.Segment, in)
		}
		if round := 4 * p.tall(in) * p.segments(in); p.Sums < round {
			return fmt.Errorf("room for %d sums: want %d at least", p.Sums, round)
		}
	}
	if p.bits == 4 {
		for _, n := range append([]int{c.All()}, inputs...) {
			if n%fourGroup != 0 {
				return fmt.Errorf("a matrix of four bits with a side of %d: want multiples of %d", n, fourGroup)
			}
		}
		if least := p.Warps * tile; p.Groups < 1 || p.Sums < least {
			return fmt.Errorf("%d groups of a row in a chunk, and room for twice %d sums: want 1 and %d at least", p.Groups, p.Sums, least)
		}
	}
	// Every array of the kernel but the ring, and what is not counted: step.cu and heads.cuh declare them.
	shared := c.Heads.Heads / c.KVHeads
	own := together * over(c.Hidden/together, p.Blocks)
	rest := 4*(2*p.Sums+p.Warps+shared*(c.Dim+p.slot(c)/(2*c.Dim)+3)+2*c.Dim+own) + 8*(p.perLayer()*c.Layers+len(ofModel)) + besides
	rest += p.vector(c)
	const gates = 16 // bytes, of each slot
	bytes := 2*p.slot(c) + gates
	or(&p.Slots, min(mostSlots, (info.MaxShared-rest)/bytes))
	if p.bits == 4 {
		or(&p.Flight, 1)
	}
	or(&p.Flight, min(flight, p.Slots))
	switch {
	case p.Slots < 2 || bytes*p.Slots+rest > info.MaxShared:
		return fmt.Errorf("%d slots of %d halves: want two at least, and a block has %d bytes of shared memory", p.Slots, p.slot(c), info.MaxShared)
	case p.Flight < 1 || p.Flight > p.Slots:
		return fmt.Errorf("%d slots are being filled at a time: want 1 to %d", p.Flight, p.Slots)
	case p.Warps < 1 || 32*(p.Warps+1) > info.MaxThreads:
		return fmt.Errorf("%d warps: want 1 to %d", p.Warps, info.MaxThreads/32-1)
	case p.Splits < 1 || p.Splits > mostParts:
		return fmt.Errorf("%d parts of the keys: want 1 to %d", p.Splits, mostParts)
	}
	return nil
}

func (p Persistent) defines(c Config) map[string]string {
	all := map[string]string{}
	for name, n := range map[string]int{"HIDDEN": c.Hidden, "MLP": c.MLP, "HEADS": c.Heads.Heads, "KV_HEADS": c.KVHeads, "DIM": c.Dim, "LAYERS": c.Layers,
		"WARPS": p.Warps, "SEGMENT": p.Segment, "SPLITS": p.Splits, "SLOT": p.slot(c), "SLOTS": p.Slots, "FLIGHT": p.Flight, "SUMS": p.Sums, "BITS": p.bits, "GROUPS": p.Groups,
		"OWN": p.together() * over(c.Hidden/p.together(), p.Blocks)} {
		all[name] = strconv.Itoa(n)
	}
	maps.Copy(all, p.Defines)
	if p.strict {
		all["STRICT"] = "1"
	}
	return all
}
