package sim

import "golang.org/x/arch/x86/x86asm"

// operations of instructions; maxima, comparisons and moves are none.
var operations = map[x86asm.Op]uint64{
	x86asm.ADDSS: 1, x86asm.SUBSS: 1, x86asm.MULSS: 1, x86asm.DIVSS: 1, x86asm.SQRTSS: 1,
	x86asm.ADDSD: 1, x86asm.SUBSD: 1, x86asm.MULSD: 1, x86asm.DIVSD: 1, x86asm.SQRTSD: 1,
	x86asm.ADDPS: 4, x86asm.SUBPS: 4, x86asm.MULPS: 4, x86asm.DIVPS: 4, x86asm.SQRTPS: 4,
	x86asm.ADDPD: 2, x86asm.SUBPD: 2, x86asm.MULPD: 2, x86asm.DIVPD: 2, x86asm.SQRTPD: 2,
}

// special is how many of an instruction's operations are divisions or roots.
func special(op x86asm.Op) uint64 {
	switch op {
	case x86asm.DIVSS, x86asm.SQRTSS, x86asm.DIVSD, x86asm.SQRTSD, x86asm.DIVPS, x86asm.SQRTPS, x86asm.DIVPD, x86asm.SQRTPD:
		return operations[op]
	}
	return 0
}

func decodeX86(at uint64, bytes []byte) (step, bool) {
	inst, err := x86asm.Decode(bytes, 64)
	if err != nil {
		return step{}, false
	}
	i := step{at: at, behind: at + uint64(inst.Len), work: work{flops: operations[inst.Op], special: special(inst.Op), instructions: 1}}
	rel, direct := inst.Args[0].(x86asm.Rel)
	if direct {
		i.direct, i.to = true, i.behind+uint64(int64(rel))
	}
	switch {
	case inst.Op == x86asm.CALL:
		i.flow = calls
	case inst.Op == x86asm.JMP:
		i.flow = jumps
	case inst.Op == x86asm.RET:
		i.flow = returns
	case direct:
		i.flow = branches
	}
	return i, true
}

// jumpSlotX86 reads a PLT entry, jmp *[rip+…], and returns the slot's address.
func jumpSlotX86(at uint64, bytes []byte) uint64 {
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
