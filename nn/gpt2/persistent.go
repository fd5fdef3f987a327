package gpt2

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/persistent"
)

// persistentFolder has its kernels.
const persistentFolder = "nn/gpt2/persistent"

// The students' tree has no such step, nor this file: it shows how several tasks are done.
func init() { otherSteps["persistent"] = persistByChoice }

// What persistent.cu is written for.
const (
	persistentWarps  = 12      // of a block
	persistentSlot   = 3072    // weights that one copy brings, at least; more where a row is longer
	persistentFlight = 2       // copies under way at most: more would be in the way of what blocks send each other
	persistentSplits = 8       // parts of a head's keys at most
	persistentHeld   = 4       // keys that a thread has a share of at a time
	persistentOwn    = 1 << 10 // bytes of shared memory besides those that are counted
	rowsOfRound      = 32      // of a matrix, at most: one for each lane of a warp
)

// Persistent says how a decoding step runs as one kernel. The zero value of each means what the device and the model
// suggest.
type Persistent struct {
	Blocks  int               // all live at once: at most as many as the device has processors
	Warps   int               // of a block, that calculate
	Bits    int               // of a weight of a matrix: 32, or 16, rounded to the nearest half; all the rest is float32
	Slot    int               // weights of a slot of the ring, which a copy fills
	Slots   int               // how many there are
	Round   int               // slots that are read before they are filled again
	Flight  int               // slots that copies are under way to, at most, but for the head's
	Splits  int               // parts of a head's keys
	Held    int               // keys that a thread has a share of at a time
	Defines map[string]string // more macros, to try something
	strict  bool              // for the simulator
}

// persistByChoice is Persist with choices such as "warps=16". A name in capitals is a macro for the kernel.
func persistByChoice(m *Model, choices []string) error {
	p := Persistent{Defines: map[string]string{}}
	numbers := map[string]*int{"blocks": &p.Blocks, "warps": &p.Warps, "bits": &p.Bits, "slot": &p.Slot, "slots": &p.Slots, "round": &p.Round, "flight": &p.Flight, "splits": &p.Splits, "held": &p.Held}
	for _, choice := range choices {
		name, value, _ := strings.Cut(choice, "=")
		if name != "" && name == strings.ToUpper(name) {
			p.Defines[name] = value
			continue
		}
		n, err := strconv.Atoi(value)
		if numbers[name] == nil || err != nil || n < 1 {
			return fmt.Errorf("%q is none of %s with a number from 1", choice, strings.Join(slices.Sorted(maps.Keys(numbers)), ", "))
		}
		*numbers[name] = n
	}
	return m.Persist(p)
}

// oneKernel is the kernel, and what it works on.
type oneKernel struct {
	kernel    device.Kernel
	launch    device.Launch
	addresses device.Buffer[uint64]
	arrived   device.Buffer[uint32]
	launches  device.Buffer[uint32]
	tagged    map[string]device.Buffer[uint64] // numbers with tags
	best      nn.Floats                        // of each block, the largest logit and its token
	bestAt    nn.Ints
}

// Persist makes decoding steps one cooperative kernel (persistent.cu) from now on, in place of a graph of many. It needs
// a device with bulk copies. The attention that the model was made with serves prompts only.
func (m *Model) Persist(p Persistent) error {
	c, info := m.config, m.queue.Info()
	fail := func(format string, args ...any) error {
		return fmt.Errorf("a step as one kernel: "+format, args...)
	}
	if !persistent.CopiesInBulk(info) {
		return fail("it takes bulk copies to shared memory, which GPUs have from Hopper on (sm_90); this one is %s", info.Arch)
	}
	if err := p.complete(c, info); err != nil {
		return fail("%w", err)
	}
	module, err := m.queue.Compile(device.Source{Folder: persistentFolder, Name: "persistent.cu", Defines: p.defines(c)})
	if err != nil {
		return fail("%w", err)
	}
	one := &oneKernel{tagged: map[string]device.Buffer[uint64]{},
		launch: device.Launch{Grid: device.D1(p.Blocks), Block: device.D1(32 * (p.Warps + 2)), Shared: p.Bits/8*p.Slot*p.Slots + p.old(), Cooperative: true}}
	if one.kernel, err = module.Kernel("persistent_step"); err != nil {
		return fail("%w", err)
	}
	if err := one.allocate(m, p); err != nil {
		return fail("%w", err)
	}
	m.other = one
	return nil
}

// complete fills in what was not chosen, and refuses what the kernel cannot do.
func (p *Persistent) complete(c Config, info device.Info) error {
	lanes := c.Dim() / 4
	or := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
	}
	or(&p.Bits, 32)
	if p.Bits != 16 && p.Bits != 32 {
		return fmt.Errorf("weights of %d bits: want 16 or 32", p.Bits)
	}
	bytes := p.Bits / 8
	multiple := 16 / bytes // bulk copies begin and end at multiples of 16 bytes
	switch {
	case c.Width%multiple != 0 || c.Inner%multiple != 0:
		return fmt.Errorf("width %d and inner width %d: want multiples of %d, so that rows can be copied in bulk", c.Width, c.Inner, multiple)
	case c.Dim()%4 != 0 || lanes < 1 || lanes > 32 || lanes&(lanes-1) != 0:
		return fmt.Errorf("heads of %d: want 4, 8, 16, 32, 64 or 128", c.Dim())
	}
	p.strict = info.Kind == device.Sim
	or(&p.Blocks, info.Processors)
	or(&p.Warps, persistentWarps)
	or(&p.Flight, persistentFlight)
	or(&p.Held, persistentHeld)
	or(&p.Splits, max(1, min(p.Blocks/c.Heads, persistentSplits)))
	if p.Blocks < 1 || p.Splits < 1 || p.Held < 1 {
		return errors.New("want at least one block, one part of a head's keys, and one key at a time")
	}
	longest := max(c.Width, c.Inner)
	or(&p.Slot, max(longest, persistentSlot/longest*longest))
	// Every array of the kernel but the ring, and what is not counted: persistent.cu declares them.
	segments := (c.Inner + c.Width - 1) / c.Width
	rest := 4*(2*rowsOfRound*segments+(p.Warps+3)*c.Dim()+rowsEach(c.Width, p.Blocks)+longest) + 8*((perLayer*c.Layers)+len(ofModel)) + persistentOwn + p.old()
	or(&p.Slots, (info.MaxShared-rest)/(bytes*p.Slot))
	most := 0 // slots that a block's rows of one matrix of a layer take
	for _, rows := range []int{3 * c.Width, c.Inner} {
		most = max(most, rowsEach(rowsEach(rows, p.Blocks), max(1, p.Slot/c.Width)))
	}
	most = max(most, rowsEach(rowsEach(c.Width, p.Blocks), max(1, p.Slot/c.Inner)))
	or(&p.Round, max(1, min(most, p.Slots-1, rowsOfRound)))
	switch {
	case p.Slot < longest || p.Slot%multiple != 0:
		return fmt.Errorf("a slot of %d weights: want a multiple of %d, and a row of %d at least", p.Slot, multiple, longest)
	case p.Slots < 2 || bytes*p.Slot*p.Slots+rest > info.MaxShared:
		return fmt.Errorf("%d slots of %d weights: want two at least, and a block has %d bytes of shared memory", p.Slots, p.Slot, info.MaxShared)
	case p.Round < 1 || p.Round > min(p.Slots, rowsOfRound):
		return fmt.Errorf("%d slots are read at a time: want 1 to %d", p.Round, min(p.Slots, rowsOfRound))
	case p.Flight < 1 || p.Flight > p.Slots:
		return fmt.Errorf("%d slots are being filled at a time: want 1 to %d", p.Flight, p.Slots)
	case p.Warps < segments || 32*(p.Warps+2) > info.MaxThreads:
		return fmt.Errorf("%d warps: want %d, one for each %d floats of a row, to %d", p.Warps, segments, c.Width, info.MaxThreads/32-2)
	case p.Blocks > c.Width:
		return fmt.Errorf("%d blocks: want a row of every matrix for each, %d at most", p.Blocks, c.Width)
	}
	return nil
}

// old is how many bytes of shared memory the keys and values take that are asked for a layer early: each thread has 16 of each, HELD times.
func (p *Persistent) old() int { return 2 * p.Held * 16 * 32 * p.Warps }

// rowsEach is how many of n the one with most has, among so many.
func rowsEach(n, among int) int { return (n + among - 1) / among }

func (p Persistent) defines(c Config) map[string]string {
	all := map[string]string{}
	for name, n := range map[string]int{"WIDTH": c.Width, "INNER": c.Inner, "HEADS": c.Heads, "LAYERS": c.Layers,
		"WARPS": p.Warps, "SPLITS": p.Splits, "BITS": p.Bits, "SLOT": p.Slot, "SLOTS": p.Slots, "ROUND": p.Round, "FLIGHT": p.Flight, "HELD": p.Held, "OWN": rowsEach(c.Width, p.Blocks)} {
		all[name] = strconv.Itoa(n)
	}
	maps.Copy(all, p.Defines)
	if p.strict {
		all["STRICT"] = "1"
	}
	return all
}
