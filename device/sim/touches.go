package sim

import (
	"regexp"
	"strconv"
	"strings"
)

// touch is what an instruction does to its operand in memory.
type touch struct {
	bytes       int
	read, write bool
}

var (
	integerOps = regexp.MustCompile(`^(mov|add|sub|and|or|xor|adc|sbb|inc|dec|neg|not|sal|shl|shr|sar|rol|ror|rcl|rcr|shld|shrd|imul|mul|div|idiv|cmp|test|bts|btr|btc|bt|bsf|bsr|tzcnt|lzcnt|popcnt|bswap|xchg|xadd|cmpxchg|push|pop|movbe|crc32|andn|cmov[a-z]+?)([bwlq]?)$`)
	// As movzbl, movsbq, movslq, movabs: from one width to another.
	extending = regexp.MustCompile(`^mov[sz]([bwl])[wlq]$`)
	setting   = regexp.MustCompile(`^set[a-z]+$`)
	// The last letters of an instruction on xmm registers tell how much it moves.
	vectorOps = regexp.MustCompile(`^(?:add|sub|mul|div|min|max|sqrt|rcp|rsqrt|and|andn|or|xor|cmp[a-z]*|ucomi|comi|mova|movu|movnt|mov|unpck[lh]|shuf|round|hadd|hsub|addsub|dp|blendv?|movmsk)(ss|sd|ps|pd)$`)
	packedOps = regexp.MustCompile(`^(?:p[a-z]+\d*[a-z]*|movdq[au]|movntdqa?|lddqu|cvt(?:dq2ps|ps2dq|tps2dq|pd2dq|tpd2dq|pd2ps)|pshuf[a-z]+|movs[lh]dup)$`)
	x87Ops    = regexp.MustCompile(`^f(i?)(ld|st|stp|add|sub|subr|mul|div|divr|com|comp|istp?|isttp|ild)(s|l|t|ll|q)?$`)
)

// otherTouches are those whose names do not follow the rules above.
var otherTouches = map[string]int{
	"movd": 4, "movq": 8, "movlps": 8, "movhps": 8, "movlpd": 8, "movhpd": 8, "movddup": 8,
	"cvtss2sd": 4, "cvtsd2ss": 8, "cvtps2pd": 8, "cvtdq2pd": 8,
	"cvtsi2ssl": 4, "cvtsi2sdl": 4, "cvtsi2ssq": 8, "cvtsi2sdq": 8,
	"cvtss2si": 4, "cvttss2si": 4, "cvtsd2si": 8, "cvttsd2si": 8,
	"cvtss2sil": 4, "cvttss2sil": 4, "cvtsd2sil": 8, "cvttsd2sil": 8,
	"cvtss2siq": 4, "cvttss2siq": 4, "cvtsd2siq": 8, "cvttsd2siq": 8,
	"pinsrw": 2, "pextrw": 2, "pinsrb": 1, "pextrb": 1, "pinsrd": 4, "pextrd": 4, "pinsrq": 8, "pextrq": 8,
	"insertps": 4, "extractps": 4, "fnstcw": 2, "fldcw": 2, "fnstsw": 2, "stmxcsr": 4, "ldmxcsr": 4, "movnti": 8,
}

var widths = map[string]int{"b": 1, "w": 2, "l": 4, "q": 8}

// untouched instructions have an operand that looks like memory and is only an address.
func untouched(op string) bool {
	return strings.HasPrefix(op, "lea") || strings.HasPrefix(op, "nop") || strings.HasPrefix(op, "prefetch") ||
		strings.HasPrefix(op, "call") || strings.HasPrefix(op, "j") || op == "clflush"
}

// touches tells what an instruction does to its operand number i, which is in memory.
// ok is false for an instruction that these tables do not list.
func touches(s statement, i int) (touch, bool) {
	last := i == len(s.args)-1
	// Written only, if it is the destination of a move.
	moved := touch{read: !last, write: last}
	if m := integerOps.FindStringSubmatch(s.op); m != nil && !strings.HasPrefix(s.op, "movd") && !xmm(s.args) {
		t := integerTouch(m[1], last, len(s.args))
		if t.bytes = widths[m[2]]; t.bytes == 0 {
			t.bytes = registerWidth(s.args)
		}
		return t, t.bytes > 0
	}
	if m := extending.FindStringSubmatch(s.op); m != nil && !xmm(s.args) {
		return touch{bytes: widths[m[1]], read: true}, true
	}
	if setting.MatchString(s.op) {
		return touch{bytes: 1, write: true}, true
	}
	if n, ok := otherTouches[s.op]; ok {
		moved.bytes = n
		if s.op == "movnti" {
			moved.bytes = registerWidth(s.args)
		}
		if strings.HasPrefix(s.op, "f") || strings.HasSuffix(s.op, "mxcsr") {
			store := strings.HasPrefix(s.op, "fnst") || s.op == "stmxcsr"
			moved.read, moved.write = !store, store
		}
		return moved, moved.bytes > 0
	}
	if m := vectorOps.FindStringSubmatch(s.op); m != nil {
		moved.bytes = map[string]int{"ss": 4, "sd": 8}[m[1]]
		if moved.bytes == 0 {
			moved.bytes = 16
		}
		if !strings.HasPrefix(s.op, "mov") {
			moved.read, moved.write = true, false
		}
		return moved, true
	}
	if packedOps.MatchString(s.op) {
		moved.bytes = 16
		return moved, true
	}
	if m := x87Ops.FindStringSubmatch(s.op); m != nil {
		n := map[string]int{"s": 4, "l": 8, "t": 10, "ll": 8, "q": 8}[m[3]]
		if m[1] == "i" || strings.HasPrefix(m[2], "i") {
			n = map[string]int{"s": 2, "": 2, "l": 4, "ll": 8, "q": 8}[m[3]]
		}
		store := strings.Contains(m[2], "st")
		return touch{bytes: n, read: !store, write: store}, n > 0
	}
	return touch{}, false
}

func integerTouch(op string, last bool, operands int) touch {
	switch op {
	case "mov", "movbe":
		return touch{read: !last, write: last}
	case "cmp", "test", "bt", "push", "mul", "div", "idiv":
		return touch{read: true}
	case "pop":
		return touch{write: true}
	case "xchg", "xadd", "cmpxchg":
		return touch{read: true, write: true}
	}
	if last && !(op == "imul" && operands == 1) {
		return touch{read: true, write: true}
	}
	return touch{read: true}
}

func registerWidth(args []string) int {
	for i := len(args) - 1; i >= 0; i-- {
		if _, n, ok := register(args[i]); ok {
			return n
		}
	}
	return 0
}

func xmm(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "%xmm") {
			return true
		}
	}
	return false
}

// immediate reads an immediate as assemblers write it.
func immediate(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		var u uint64
		if u, err = strconv.ParseUint(text, 0, 64); err == nil {
			n = int64(u)
		}
	}
	return n, err == nil
}
