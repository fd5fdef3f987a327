package gpt2

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/nn"
)

//go:embed persistent/*
var persistentFiles embed.FS

// The students' tree has no such step, nor this file: it shows how several tasks are done.
func init() { otherSteps["persistent"] = persistByChoice }

// What persistent.cu is written for.
const (
	persistentWarps  = 12      // of a block
	persistentSlot   = 3072    // floats that one copy brings, at least; more where a row is longer
	persistentFlight = 1       // copies under way at most: more would be in the way of what blocks send each other
	persistentSplits = 8       // parts of a head's keys at most
	persistentOwn    = 1 << 10 // bytes of shared memory besides those that are counted
	rowsOfRound      = 32      // of a matrix, at most: one for each lane of a warp
)

// Persistent says how a decoding step runs as one kernel. The zero value of each means what the device and the model
// suggest.
type Persistent struct {
	Blocks  int               // all live at once: at most as many as the device has processors
	Warps   int               // of a block
	Slot    int               // floats of a slot of the ring, which a copy fills
	Slots   int               // how many there are
	Round   int               // slots that are read before they are filled again
	Flight  int               // slots that copies are under way to, at most, but for the head's
	Splits  int               // parts of a head's keys
	Defines map[string]string // more macros, to try something
	strict  bool              // for the simulator
}

// persistByChoice is Persist with choices such as "warps=16". A name in capitals is a macro for the kernel.
func persistByChoice(m *Model, choices []string) error {
	p := Persistent{Defines: map[string]string{}}
	numbers := map[string]*int{"blocks": &p.Blocks, "warps": &p.Warps, "slot": &p.Slot, "slots": &p.Slots, "round": &p.Round, "flight": &p.Flight, "splits": &p.Splits}
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

// persistent is the kernel, and what it works on.
type persistent struct {
	kernel    device.Kernel
	launch    device.Launch
	addresses device.Buffer[uint64]
	arrived   device.Buffer[uint32]
	launches  device.Buffer[uint32]
	floats    map[string]nn.Floats
	tagged    map[string]device.Buffer[uint64] // numbers with tags
	bestAt    nn.Ints
}

// Persist makes decoding steps one cooperative kernel (persistent.cu) from now on, in place of a graph of many. It needs
// a device with bulk copies. The attention that the model was made with serves prompts only.
func (m *Model) Persist(p Persistent) error {
	c, info := m.config, m.queue.Info()
	fail := func(format string, args ...any) error {
		return fmt.Errorf("a step as one kernel: "+format, args...)
	}
	if !copiesInBulk(info) {
		return fail("it takes bulk copies to shared memory, which GPUs have from Hopper on (sm_90); this one is %s", info.Arch)
	}
	if err := p.complete(c, info); err != nil {
		return fail("%w", err)
	}
	source, err := p.source(c)
	if err != nil {
		return fail("%w", err)
	}
	module, err := m.queue.Compile(source)
	if err != nil {
		return fail("%w", err)
	}
	one := &persistent{floats: map[string]nn.Floats{}, tagged: map[string]device.Buffer[uint64]{},
		launch: device.Launch{Grid: device.D1(p.Blocks), Block: device.D1(32 * (p.Warps + 1)), Shared: 4 * p.Slot * p.Slots, Cooperative: true}}
	if one.kernel, err = module.Kernel("persistent_step"); err != nil {
		return fail("%w", err)
	}
	if err := one.allocate(m, p); err != nil {
		return fail("%w", err)
	}
	m.other = one
	return nil
}

// copiesInBulk tells whether a device has cp.async.bulk.
func copiesInBulk(info device.Info) bool {
	if info.Kind == device.Sim {
		return true
	}
	var arch int
	_, err := fmt.Sscanf(info.Arch, "sm_%d", &arch)
	return err == nil && arch >= 90
}

// complete fills in what was not chosen, and refuses what the kernel cannot do.
func (p *Persistent) complete(c Config, info device.Info) error {
	lanes := c.Dim() / 4
	switch {
	case c.Width%4 != 0 || c.Inner%4 != 0:
		return fmt.Errorf("width %d and inner width %d: want multiples of 4, so that rows can be copied in bulk", c.Width, c.Inner)
	case c.Dim()%4 != 0 || lanes < 1 || lanes > 32 || lanes&(lanes-1) != 0:
		return fmt.Errorf("heads of %d: want 4, 8, 16, 32, 64 or 128", c.Dim())
	}
	or := func(value *int, otherwise int) {
		if *value == 0 {
			*value = otherwise
		}
	}
	p.strict = info.Kind == device.Sim
	or(&p.Blocks, info.Processors)
	or(&p.Warps, persistentWarps)
	or(&p.Flight, persistentFlight)
	or(&p.Splits, max(1, min(p.Blocks/c.Heads, persistentSplits)))
	longest := max(c.Width, c.Inner)
	or(&p.Slot, max(longest, persistentSlot/longest*longest))
	// Every array of the kernel but the ring, and what is not counted: persistent.cu declares them.
	segments := (c.Inner + c.Width - 1) / c.Width
	rest := 4*(2*rowsOfRound*segments+(p.Warps+3)*c.Dim()+2*c.Width+c.Inner) + 8*((perLayer*c.Layers)+len(ofModel)) + persistentOwn
	or(&p.Slots, (info.MaxShared-rest)/(4*p.Slot))
	most := 0 // slots that a block's rows of one matrix of a layer take
	for _, rows := range []int{3 * c.Width, c.Inner} {
		most = max(most, rowsEach(rowsEach(rows, p.Blocks), max(1, p.Slot/c.Width)))
	}
	most = max(most, rowsEach(rowsEach(c.Width, p.Blocks), max(1, p.Slot/c.Inner)))
	or(&p.Round, max(1, min(most, p.Slots-1, rowsOfRound)))
	switch {
	case p.Slot < longest || p.Slot%4 != 0:
		return fmt.Errorf("a slot of %d floats: want a multiple of 4, and a row of %d at least", p.Slot, longest)
	case p.Slots < 2 || 4*p.Slot*p.Slots+rest > info.MaxShared:
		return fmt.Errorf("%d slots of %d floats: want two at least, and a block has %d bytes of shared memory", p.Slots, p.Slot, info.MaxShared)
	case p.Round < 1 || p.Round > min(p.Slots, rowsOfRound):
		return fmt.Errorf("%d slots are read at a time: want 1 to %d", p.Round, min(p.Slots, rowsOfRound))
	case p.Flight < 1 || p.Flight > p.Slots:
		return fmt.Errorf("%d slots are being filled at a time: want 1 to %d", p.Flight, p.Slots)
	case p.Warps < segments || 32*(p.Warps+1) > info.MaxThreads:
		return fmt.Errorf("%d warps: want %d, one for each %d floats of a row, to %d", p.Warps, segments, c.Width, info.MaxThreads/32-1)
	case p.Blocks > c.Width:
		return fmt.Errorf("%d blocks: want a row of every matrix for each, %d at most", p.Blocks, c.Width)
	case p.Blocks < 1 || p.Splits < 1:
		return errors.New("at least one block, and one part of a head's keys")
	}
	return nil
}

// rowsEach is how many of n the one with most has, among so many.
func rowsEach(n, among int) int { return (n + among - 1) / among }

func (p Persistent) defines(c Config) map[string]string {
	all := map[string]string{}
	for name, n := range map[string]int{"WIDTH": c.Width, "INNER": c.Inner, "HEADS": c.Heads, "LAYERS": c.Layers,
		"WARPS": p.Warps, "SPLITS": p.Splits, "SLOT": p.Slot, "SLOTS": p.Slots, "ROUND": p.Round, "FLIGHT": p.Flight} {
		all[name] = strconv.Itoa(n)
	}
	maps.Copy(all, p.Defines)
	if p.strict {
		all["STRICT"] = "1"
	}
	return all
}

// source is the kernel's text, for a model's shape.
func (p Persistent) source(c Config) (s device.Source, err error) {
	s = device.Source{Name: "persistent.cu", Defines: p.defines(c), Files: map[string]string{}}
	for _, name := range []string{s.Name, "stream.cuh", "mail.cuh", "vector.cuh", "heads.cuh"} {
		text, err := persistentFiles.ReadFile("persistent/" + name)
		if err != nil {
			return s, err
		}
		if name == s.Name {
			s.Text = string(text)
		} else {
			s.Files[name] = string(text)
		}
	}
	return s, nil
}

// The order in which stream.cuh has addresses: those of a layer, its keys and values behind them, and those of the model.
var (
	ofLayer = []string{Gain1, Bias1, QKVWeight, QKVBias, OutWeight, OutBias, Gain2, Bias2, UpWeight, UpBias, DownWeight, DownBias}
	ofModel = []string{TokenTable, PositionTable, FinalGain, FinalBias}
)

var perLayer = len(ofLayer) + 2

func (one *persistent) allocate(m *Model, p Persistent) error {
	c := m.config
	var addresses []uint64
	for i := range c.Layers {
		for _, name := range ofLayer {
			addresses = append(addresses, m.weights[InLayer(i, name)].Memory().Addr)
		}
		addresses = append(addresses, m.cache[i].K.Memory().Addr, m.cache[i].V.Memory().Addr)
	}
	for _, name := range ofModel {
		addresses = append(addresses, m.weights[name].Memory().Addr)
	}
	for _, a := range addresses {
		if a%16 != 0 {
			return fmt.Errorf("weights at the address %#x: want a multiple of 16", a)
		}
	}
	var err error
	if one.addresses, err = device.Upload(m.queue, "addresses", addresses); err != nil {
		return err
	}
	m.memory = append(m.memory, one.addresses.Memory())
	for name, b := range map[string]*device.Buffer[uint32]{"arrived": &one.arrived, "launches": &one.launches} {
		if *b, err = device.Upload(m.queue, name, []uint32{0}); err != nil {
			return err
		}
		m.memory = append(m.memory, b.Memory())
	}
	if one.bestAt, err = device.Alloc[int32](m.queue, "best at", p.Blocks); err != nil {
		return err
	}
	m.memory = append(m.memory, one.bestAt.Memory())
	for name, n := range map[string]int{"parts": c.Width * p.Splits, "part weights": 2 * c.Heads * p.Splits, "best": p.Blocks} {
		b, err := device.Alloc[float32](m.queue, name+" of a step", n)
		if err != nil {
			return err
		}
		one.floats[name] = b
		m.memory = append(m.memory, b.Memory())
	}
	for name, n := range map[string]int{"x": c.Width, "qkv": 3 * c.Width, "inner": c.Inner} {
		b, err := device.Upload(m.queue, name+" of a step", make([]uint64, n)) // no tag is 0
		if err != nil {
			return err
		}
		one.tagged[name] = b
		m.memory = append(m.memory, b.Memory())
	}
	return nil
}

// decode queues a step, which moves before, after and tokens on as Model.decode does.
func (one *persistent) decode(m *Model) error {
	return m.queue.Launch(one.kernel, one.launch, one.addresses, m.tokens, m.before.Device, m.after.Device, one.tagged["x"], one.tagged["qkv"],
		one.floats["parts"], one.floats["part weights"], one.tagged["inner"], m.logits, one.floats["best"], one.bestAt, one.arrived, one.launches,
		m.config.Vocabulary, m.config.Positions, m.config.Epsilon)
}
