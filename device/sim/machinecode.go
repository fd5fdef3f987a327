package sim

import (
	"debug/elf"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// code is a module's machine code, cut into pieces at every jump, every place that is
// jumped to, and every call of the hook. A piece runs from its start to its end.
type code struct {
	sections []*section
	calls    map[uint64]string // addresses of PLT entries → function
	pieces   map[uint64]*piece // by their first instruction's address
	before   map[uint64]uint64 // operations ahead of a call of the hook, by the address behind it
	totals   map[uint64]uint64 // what operationsFrom found before
}

type section struct {
	address uint64
	bytes   []byte
}

type piece struct {
	operations uint64
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
	c := &code{calls: map[uint64]string{}, pieces: map[uint64]*piece{}, before: map[uint64]uint64{}, totals: map[uint64]uint64{}}
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
			c.sections = append(c.sections, &section{s.Addr, bytes})
		}
	}
	slots := importSlots(f)
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".plt") {
			continue
		}
		for at := s.Addr; at < s.Addr+s.Size; at += 8 {
			if name, ok := slots[c.jumpSlot(at)]; ok {
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

// jumpSlot reads a PLT entry, jmp *[rip+…], and returns the slot's address.
func (c *code) jumpSlot(at uint64) uint64 {
	bytes := c.at(at)
	if len(bytes) >= 4 && bytes[0] == 0xf3 && bytes[1] == 0x0f && bytes[2] == 0x1e { // endbr64
		bytes, at = bytes[4:], at+4
	}
	if len(bytes) >= 1 && bytes[0] == 0xf2 { // bnd
		bytes, at = bytes[1:], at+1
	}
	inst, err := x86asm.Decode(bytes, 64)
	if err != nil || inst.Op != x86asm.JMP {
		return 0
	}
	mem, ok := inst.Args[0].(x86asm.Mem)
	if !ok || mem.Base != x86asm.RIP {
		return 0
	}
	return at + uint64(inst.Len) + uint64(mem.Disp)
}

func (c *code) at(address uint64) []byte {
	for _, s := range c.sections {
		if address >= s.address && address < s.address+uint64(len(s.bytes)) {
			return s.bytes[address-s.address:]
		}
	}
	return nil
}

// cut splits a section. What cannot be decoded is the padding between functions.
func (c *code) cut(s *section) {
	starts, behindHook := map[uint64]bool{s.address: true}, map[uint64]bool{}
	s.each(func(at uint64, inst x86asm.Inst) {
		behind := at + uint64(inst.Len)
		to, jumps := target(at, inst)
		if jumps {
			starts[to] = true
		}
		behindHook[behind] = c.called(at, inst) == hook
		if jumps || inst.Op == x86asm.RET || inst.Op == x86asm.JMP || behindHook[behind] {
			starts[behind] = true
		}
	})
	var now *piece
	s.each(func(at uint64, inst x86asm.Inst) {
		if starts[at] {
			if now != nil {
				now.next = append(now.next, at)
			}
			now = &piece{behindHook: behindHook[at]}
			c.pieces[at] = now
		}
		if now == nil {
			return
		}
		behind := at + uint64(inst.Len)
		to, jumps := target(at, inst)
		switch name := c.called(at, inst); {
		case name == hook:
			now.hooked = true
			if !now.behindHook {
				c.before[behind] = now.operations
			}
			now = nil
		case inst.Op == x86asm.CALL:
			now.operations += callCost(name)
		case inst.Op == x86asm.RET, inst.Op == x86asm.JMP && !jumps:
			now = nil
		case inst.Op == x86asm.JMP: // or a call whose result is the function's own
			now.operations += callCost(c.calls[to])
			now.next = []uint64{to}
			now = nil
		case jumps:
			now.next = []uint64{to, behind}
			now = nil
		default:
			now.operations += operations[inst.Op]
		}
	})
}

func (s *section) each(visit func(at uint64, inst x86asm.Inst)) {
	for i := 0; i < len(s.bytes); {
		inst, err := x86asm.Decode(s.bytes[i:], 64)
		if err != nil {
			i++
			continue
		}
		visit(s.address+uint64(i), inst)
		i += inst.Len
	}
}

// target of a jump, conditional or not, that says where it goes.
func target(at uint64, inst x86asm.Inst) (uint64, bool) {
	rel, ok := inst.Args[0].(x86asm.Rel)
	if !ok || inst.Op == x86asm.CALL {
		return 0, false
	}
	return at + uint64(inst.Len) + uint64(int64(rel)), true
}

// called is the function outside the module that an instruction calls, or "".
func (c *code) called(at uint64, inst x86asm.Inst) string {
	rel, ok := inst.Args[0].(x86asm.Rel)
	if !ok || inst.Op != x86asm.CALL {
		return ""
	}
	return c.calls[at+uint64(inst.Len)+uint64(int64(rel))]
}
