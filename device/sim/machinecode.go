package sim

import (
	"debug/elf"
	"strings"
)

// code is a module's machine code, cut into pieces at every jump, every place that is
// jumped to, and every call of the hook. A piece runs from its start to its end.
type code struct {
	sections []*section
	calls    map[uint64]string // addresses of PLT entries → function
	pieces   map[uint64]*piece // by their first instruction's address
	before   map[uint64]work   // what is ahead of a call of the hook, by the address behind it
	totals   map[uint64]work   // what workFrom found before
}

type section struct {
	arm     bool // AArch64's, not x86-64's
	address uint64
	bytes   []byte
}

type piece struct {
	work       work
	behindHook bool     // it begins where the hook returns
	hooked     bool     // it ends with a call of the hook
	next       []uint64 // where the code goes on otherwise
}

// hook is what the compiler calls at the start of every basic block.
const hook = "__sanitizer_cov_trace_pc"

func (m *module) machineCode() *code {
	if m.code == nil {
		m.code = readCode(m.path)
	}
	return m.code
}

// readCode reads the executable sections; what it cannot read counts nothing.
func readCode(path string) *code {
	c := &code{calls: map[uint64]string{}, pieces: map[uint64]*piece{}, before: map[uint64]work{}, totals: map[uint64]work{}}
	f, err := elf.Open(path)
	if err != nil {
		return c
	}
	defer f.Close()
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if bytes, err := s.Data(); err == nil {
			c.sections = append(c.sections, &section{f.Machine == elf.EM_AARCH64, s.Addr, bytes})
		}
	}
	slots, jumpSlot := importSlots(f), jumpSlotX86
	if f.Machine == elf.EM_AARCH64 {
		jumpSlot = jumpSlotArm
	}
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".plt") {
			continue
		}
		for at := s.Addr; at < s.Addr+s.Size; at += 8 {
			if name, ok := slots[jumpSlot(at, c.at(at))]; ok {
				c.calls[at] = name
			}
		}
	}
	for _, s := range c.sections {
		c.cut(s)
	}
	return c
}

// importSlots maps the addresses that the loader fills in to functions' names.
func importSlots(f *elf.File) map[uint64]string {
	slots := map[uint64]string{}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return slots
	}
	for _, name := range []string{".rela.plt", ".rela.dyn"} {
		s := f.Section(name)
		if s == nil {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(data) >= 24; data = data[24:] {
			offset, info := f.ByteOrder.Uint64(data), f.ByteOrder.Uint64(data[8:])
			if n := int(info >> 32); n > 0 && n <= len(symbols) {
				slots[offset] = symbols[n-1].Name
			}
		}
	}
	return slots
}

func (c *code) at(address uint64) []byte {
	for _, s := range c.sections {
		if address >= s.address && address < s.address+uint64(len(s.bytes)) {
			return s.bytes[address-s.address:]
		}
	}
	return nil
}

// step is an instruction, as far as it matters here.
type step struct {
	at, behind uint64
	flow       flow
	direct     bool   // it says where it goes:
	to         uint64 // there
	work       work
}

// flow is how the code goes on behind an instruction.
type flow int

const (
	straightOn flow = iota
	calls
	jumps    // always
	branches // perhaps
	returns
)

// cut splits a section. What cannot be decoded is the padding between functions.
func (c *code) cut(s *section) {
	starts, behindHook := map[uint64]bool{s.address: true}, map[uint64]bool{}
	s.each(func(i step) {
		leads := i.direct && i.flow != calls
		if leads {
			starts[i.to] = true
		}
		behindHook[i.behind] = c.called(i) == hook
		if leads || i.flow == returns || i.flow == jumps || behindHook[i.behind] {
			starts[i.behind] = true
		}
	})
	var now *piece
	s.each(func(i step) {
		if starts[i.at] {
			if now != nil {
				now.next = append(now.next, i.at)
			}
			now = &piece{behindHook: behindHook[i.at]}
			c.pieces[i.at] = now
		}
		if now == nil {
			return
		}
		switch name := c.called(i); {
		case name == hook:
			now.hooked = true
			if !now.behindHook {
				c.before[i.behind] = now.work
			}
			now = nil
		case i.flow == calls:
			now.work.add(1, callCost(name))
		case i.flow == returns, i.flow == jumps && !i.direct:
			now = nil
		case i.flow == jumps: // or a call whose result is the function's own
			now.work.add(1, callCost(c.calls[i.to]))
			now.next = []uint64{i.to}
			now = nil
		case i.flow == branches:
			now.next = []uint64{i.to, i.behind}
			now = nil
		default:
			now.work.add(1, i.work)
		}
	})
}

// each visits the instructions in turn.
func (s *section) each(visit func(i step)) {
	decode, unit := decodeX86, 1
	if s.arm {
		decode, unit = decodeArm, 4
	}
	for from := 0; from < len(s.bytes); {
		i, ok := decode(s.address+uint64(from), s.bytes[from:])
		if !ok {
			from += unit
			continue
		}
		visit(i)
		from = int(i.behind - s.address)
	}
}

// called is the function outside the module that an instruction calls, or "".
func (c *code) called(i step) string {
	if i.flow != calls || !i.direct {
		return ""
	}
	return c.calls[i.to]
}
