package sim

import (
	"debug/elf"
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// code is a module's machine code, for counting arithmetic: a basic block has
// the same floating-point operations every time it runs, and the simulator
// counts its runs.
type code struct {
	sections []*section
	calls    map[uint64]string // addresses of PLT entries → function
}

type section struct {
	address uint64
	bytes   []byte
}

// operations of instructions; maxima, comparisons and moves are none.
var operations = map[x86asm.Op]uint64{
	x86asm.ADDSS: 1, x86asm.SUBSS: 1, x86asm.MULSS: 1, x86asm.DIVSS: 1, x86asm.SQRTSS: 1,
	x86asm.ADDSD: 1, x86asm.SUBSD: 1, x86asm.MULSD: 1, x86asm.DIVSD: 1, x86asm.SQRTSD: 1,
	x86asm.ADDPS: 4, x86asm.SUBPS: 4, x86asm.MULPS: 4, x86asm.DIVPS: 4, x86asm.SQRTPS: 4,
	x86asm.ADDPD: 2, x86asm.SUBPD: 2, x86asm.MULPD: 2, x86asm.DIVPD: 2, x86asm.SQRTPD: 2,
}

// flops sums what the basic blocks of a kernel computed. A call of a
// mathematical function counts as one operation, fma as two.
func (d *Device) flops(blocks [][3]uint64) uint64 {
	var sum uint64
	for _, b := range blocks {
		if m := d.module(int(b[0])); m != nil {
			sum += b[2] * m.machineCode().operationsFrom(b[1])
		}
	}
	return sum
}

func (m *module) machineCode() *code {
	if m.code == nil {
		m.code = readCode(m.path)
	}
	return m.code
}

// readCode reads the executable sections; what it cannot read counts nothing.
func readCode(path string) *code {
	c := &code{calls: map[uint64]string{}}
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

// hook is what the compiler calls at the start of every basic block.
const hook = "__sanitizer_cov_trace_pc"

// operationsFrom counts from behind one hook to the next, or to a jump away. A
// conditional jump does not end it: the compiler puts the bounds checks' own
// branches inside, and every other one is followed by a hook.
func (c *code) operationsFrom(at uint64) uint64 {
	var sum uint64
	for {
		inst, err := x86asm.Decode(c.at(at), 64)
		if err != nil {
			return sum
		}
		at += uint64(inst.Len)
		switch inst.Op {
		case x86asm.CALL:
			if rel, ok := inst.Args[0].(x86asm.Rel); ok {
				name := c.calls[at+uint64(int64(rel))]
				if name == hook {
					return sum
				}
				sum += callCost(name)
			}
		case x86asm.RET, x86asm.JMP:
			return sum
		default:
			sum += operations[inst.Op]
		}
	}
}

func callCost(name string) uint64 {
	products, isMatrix := strings.CutPrefix(name, "simt_multiply_")
	n, _ := strconv.ParseUint(products, 10, 64)
	switch {
	case isMatrix: // by a tensor core
		return 2 * n
	case name == "simt_fma": // of halves
		return 2
	case name == "" || strings.HasPrefix(name, "_") || strings.HasPrefix(name, "simt_") || strings.HasPrefix(name, "mem"):
		return 0
	case name == "fmaf" || name == "fma":
		return 2
	case name == "fmaxf" || name == "fminf" || name == "fmax" || name == "fmin" || name == "fabsf":
		return 0
	}
	return 1
}
