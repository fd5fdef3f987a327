package sim

import (
	"encoding/binary"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// operationsArm of instructions. What rounds to an integer is a call of floorf and its like
// on x86-64, and counts as one.
var operationsArm = map[arm64asm.Op]uint64{
	arm64asm.FADD: 1, arm64asm.FSUB: 1, arm64asm.FABD: 1, arm64asm.FMUL: 1, arm64asm.FNMUL: 1, arm64asm.FDIV: 1, arm64asm.FSQRT: 1,
	arm64asm.FMADD: 2, arm64asm.FMSUB: 2, arm64asm.FNMADD: 2, arm64asm.FNMSUB: 2, arm64asm.FMLA: 2, arm64asm.FMLS: 2,
	arm64asm.FRINTA: 1, arm64asm.FRINTI: 1, arm64asm.FRINTM: 1, arm64asm.FRINTN: 1, arm64asm.FRINTP: 1, arm64asm.FRINTX: 1, arm64asm.FRINTZ: 1,
}

func decodeArm(at uint64, bytes []byte) (step, bool) {
	inst, err := arm64asm.Decode(bytes)
	if err != nil {
		return step{}, false
	}
	i := step{at: at, behind: at + 4, work: work{flops: operationsArm[inst.Op], instructions: 1}}
	if i.work.flops > 0 {
		i.work.flops *= lanes(inst.Args[0])
		if inst.Op == arm64asm.FDIV || inst.Op == arm64asm.FSQRT {
			i.work.special = i.work.flops
		}
		return i, true
	}
	conditional := false
	for _, a := range inst.Args { // where it goes is the last operand
		switch a := a.(type) {
		case arm64asm.PCRel:
			i.direct, i.to = true, at+uint64(int64(a))
		case arm64asm.Cond:
			conditional = true
		}
	}
	switch inst.Op {
	case arm64asm.BL, arm64asm.BLR:
		i.flow = calls
	case arm64asm.BR:
		i.flow = jumps
	case arm64asm.B:
		if i.flow = jumps; conditional {
			i.flow = branches
		}
	case arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		i.flow = branches
	case arm64asm.RET:
		i.flow = returns
	default:
		i.direct = false // of adr, say
	}
	return i, true
}

// lanes of a vector register: V0.4S.
func lanes(arg arm64asm.Arg) uint64 {
	if _, arrangement, ok := strings.Cut(arg.String(), "."); ok && arrangement != "" && arrangement[0] >= '1' && arrangement[0] <= '9' {
		return uint64(arrangement[0] - '0')
	}
	return 1
}

// jumpSlotArm reads a PLT entry, adrp x16,page; ldr x17,[x16,…], and returns the slot's address.
func jumpSlotArm(at uint64, bytes []byte) uint64 {
	if len(bytes) >= 4 && binary.LittleEndian.Uint32(bytes) == 0xd503245f { // bti c
		bytes, at = bytes[4:], at+4
	}
	if len(bytes) < 8 {
		return 0
	}
	adrp, ldr := binary.LittleEndian.Uint32(bytes), binary.LittleEndian.Uint32(bytes[4:])
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0
	}
	page := int64(int32(adrp<<8)>>13<<2|int32(adrp>>29&3)) << 12 // 21 bits, with a sign
	return uint64(int64(at&^0xfff)+page) + uint64(ldr>>10&0xfff)*8
}
