package sim

import (
	"strconv"
	"strings"
)

// followArm does to the state what an instruction of AArch64 does.
func (s *state) followArm(i *statement) {
	switch {
	case i.op == "bl":
		s.call(i.args[0])
		return
	case i.op == "blr":
		s.call("")
		return
	case i.jump != "" || i.ends || armNoResult[i.op] || len(i.args) == 0:
		return
	case i.access != nil:
		s.moveArm(i)
		return
	}
	if to, bytes, ok := armRegister(i.args[0]); ok && to != armZero {
		v := s.resultArm(i, bytes)
		// The frame's pointer is for the code itself, which names places from it.
		if s.local(v) && to != armStack && to != armFrame {
			s.expose(v)
		}
		s.set(to, v)
	}
}

var armNoResult = map[string]bool{"cmp": true, "cmn": true, "tst": true, "ccmp": true, "ccmn": true, "msr": true,
	"nop": true, "hint": true, "dmb": true, "dsb": true, "isb": true, "yield": true}

// resultArm is what an instruction that touches no memory leaves in its first register.
func (s *state) resultArm(i *statement, bytes int) value {
	source := func(n int) value {
		r, _, _ := armRegister(i.args[n])
		return s.armValue(r)
	}
	last := len(i.args) - 1
	number, isNumber := armNumber(i.args[last])
	switch {
	case i.op == "adrp":
		return s.page(i.args[1])
	case i.op == "mrs" && i.args[1] == "tpidr_el0":
		return s.named(origin{what: "thread pointer"})
	case i.op == "mov" && isNumber:
		return s.narrowed(value{plus: number}, bytes)
	case i.op == "add" && last == 2 && strings.Contains(i.args[2], ":"):
		return s.within(source(1), i.args[2])
	}
	if !pureArm[i.op] {
		return s.fresh(false)
	}
	// A modifier is an operand of its own, at the end: add x0, x1, w2, sxtw 2.
	modifier := ""
	if kind, _, _ := strings.Cut(i.args[last], " "); armModifiers[kind] {
		modifier = strings.ReplaceAll(i.args[last], "#", "")
		last--
		number, isNumber = armNumber(i.args[last])
	}
	for n := 1; n <= last; n++ {
		if _, _, ok := armRegister(i.args[n]); !ok && !(n == last && isNumber || bitfields[i.op]) {
			return s.fresh(false) // a vector's register, say
		}
	}
	if bytes == 8 {
		if v, ok := s.linear(i, source, last, number, isNumber, modifier); ok {
			return v
		}
	}
	what, of := i.op+" "+modifier, [3]id{}
	for n := 1; n <= last; n++ {
		if _, _, ok := armRegister(i.args[n]); !ok {
			what += " " + i.args[n]
			continue
		}
		v := source(n)
		if bytes == 4 {
			v = s.low(v)
		}
		if n > 3 {
			return s.fresh(false)
		}
		of[n-1] = s.id(v)
	}
	if changesFirst[i.op] {
		of[2] = s.id(source(0))
	}
	return s.narrowed(s.named(origin{what: what, at: bytes, of: of}), bytes)
}

// linear are the results that are sums of the operands, on 64 bits.
func (s *state) linear(i *statement, source func(int) value, last int, number int64, isNumber bool, modifier string) (value, bool) {
	second := func() value {
		if isNumber {
			return s.extended(value{plus: number}, modifier)
		}
		return s.extended(source(2), modifier)
	}
	switch i.op {
	case "mov":
		return source(1), modifier == ""
	case "add", "adds":
		return source(1).add(second(), 1), last == 2
	case "sub", "subs":
		return source(1).add(second(), -1), last == 2
	case "lsl":
		if isNumber && number >= 0 && number < 63 {
			return value{}.add(source(1), 1<<number), true
		}
	case "sxtw":
		return s.widened("sxtw", s.low(source(1))), true
	case "uxtw":
		return s.narrowed(source(1), 4), true
	case "sbfiz", "ubfiz":
		from, _ := armNumber(i.args[2])
		if number != 32 || from < 0 || from > 32 {
			return value{}, false
		}
		return s.extended(source(1), i.op[:1]+"xtw "+strconv.FormatInt(from, 10)), true
	case "and":
		if isNumber && number == 0xffffffff {
			return s.narrowed(source(1), 4), true
		}
	}
	return value{}, false
}

var armModifiers = map[string]bool{"lsl": true, "lsr": true, "asr": true, "ror": true, "msl": true, "sxtw": true, "uxtw": true,
	"sxtx": true, "uxtx": true, "sxtb": true, "uxtb": true, "sxth": true, "uxth": true}

// pureArm instructions depend on nothing but their operands: no flags, no memory.
var pureArm = setOf("mov add adds sub subs and ands orr eor bic bics orn eon mvn neg negs lsl lsr asr ror mul madd msub mneg " +
	"smull umull smaddl umaddl smsubl umsubl smnegl umnegl smulh umulh sdiv udiv clz cls rbit rev rev16 rev32 " +
	"sxtb sxth sxtw uxtb uxth uxtw ubfx sbfx ubfiz sbfiz bfi bfxil bfc extr movk movz movn")

// bitfields have numbers among their operands; changesFirst keep some of what their result held.
var (
	bitfields    = setOf("ubfx sbfx ubfiz sbfiz bfi bfxil bfc extr movk movz movn")
	changesFirst = setOf("bfi bfxil bfc movk")
)

func setOf(names string) map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(names) {
		all[name] = true
	}
	return all
}
