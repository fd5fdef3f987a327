package sim

import (
	"strconv"
	"strings"
)

// aarch64 is the other processor whose assembly is read: in this file, touchesarm.go, followarm.go
// and watcharm.go.
var aarch64 = &processor{
	parse: parseArm, follow: (*state).followArm, watch: (*unseen).watchArm, rewritten: rewrittenArm,
	registers: 32, stack: armStack, result: 0, arguments: [2]int{0, 1},
	callerSaved: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 30},
}

// Numbers of registers that have names of their own. The one that is always zero has no place
// among a state's registers.
const armFrame, armStack, armZero = 29, 31, 32

// parseArm reads one line of AArch64's assembly.
func parseArm(text string, all forms) statement {
	s := statement{text: text}
	code := strings.TrimSpace(text)
	if m := labelLine.FindStringSubmatch(code); m != nil {
		s.label = m[1]
		code = strings.TrimSpace(code[len(m[0]):])
	}
	if code == "" || code[0] == '.' || code[0] == '#' {
		s.file = strings.HasPrefix(code, ".file") || strings.HasPrefix(code, ".loc")
		return s
	}
	code, _, _ = strings.Cut(code, "//")
	op, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(code, "\t", " ")), " ")
	s.op, s.form = op, all.of(op)
	s.args = splitOperands(rest, "[{", "]}")
	switch {
	case op == "b" || strings.HasPrefix(op, "b.") || armConditions[strings.TrimPrefix(op, "b")] && op[0] == 'b':
		s.jump, s.ends = s.args[0], op == "b"
	case op == "cbz" || op == "cbnz" || op == "tbz" || op == "tbnz":
		s.jump = s.args[len(s.args)-1]
	case op == "br":
		s.jump, s.ends = "*"+s.args[0], true
	case op == "ret" || op == "brk" || op == "udf":
		s.ends = true
	}
	if strings.Contains(rest, "[") || strings.HasPrefix(op, "ld") || strings.HasPrefix(op, "st") {
		s.access = readArmAccess(&s)
	}
	return s
}

var armConditions = map[string]bool{"eq": true, "ne": true, "cs": true, "hs": true, "cc": true, "lo": true, "mi": true, "pl": true,
	"vs": true, "vc": true, "hi": true, "ls": true, "ge": true, "lt": true, "gt": true, "le": true, "al": true}

// armRegister reads a general register: its number, and how many bytes of it.
func armRegister(name string) (number, bytes int, ok bool) {
	switch name {
	case "sp":
		return armStack, 8, true
	case "wsp":
		return armStack, 4, true
	case "xzr":
		return armZero, 8, true
	case "wzr":
		return armZero, 4, true
	}
	if len(name) < 2 || name[0] != 'x' && name[0] != 'w' {
		return 0, 0, false
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 0 || n > 30 {
		return 0, 0, false
	}
	if name[0] == 'w' {
		return n, 4, true
	}
	return n, 8, true
}

// armNumber reads an immediate, with or without its #.
func armNumber(text string) (int64, bool) {
	if text = strings.TrimPrefix(text, "#"); text == "" {
		return 0, false
	}
	return immediate(text)
}

// armPlace is an operand in memory: [base, plus], [base, index, extend shift], [base, :lo12:name]; and
// what is added to the base before the access, as in [base, 16]!, or after it, as in [base], 16.
type armPlace struct {
	base, index   int // index may be -1
	plus          int64
	extend        string // as it is written: "lsl 2", "sxtw 3", or ""
	symbol        string // :lo12:name
	before, after bool
	step          int64 // then
}

// readArmPlace reads [...] and what may follow it.
func readArmPlace(arg string, behind []string) (armPlace, bool) {
	p := armPlace{index: -1}
	inside, ok := strings.CutPrefix(arg, "[")
	if inside, p.before = strings.CutSuffix(inside, "!"); !ok {
		return p, false
	}
	if inside, ok = strings.CutSuffix(inside, "]"); !ok {
		return p, false
	}
	parts := strings.Split(inside, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	var bytes int
	if p.base, bytes, ok = armRegister(parts[0]); !ok || bytes != 8 {
		return p, false
	}
	if len(parts) > 1 {
		name := strings.TrimPrefix(parts[1], "#")
		if p.index, _, ok = armRegister(name); !ok {
			p.index = -1
			if p.plus, ok = armNumber(name); !ok {
				p.symbol = name
				if !strings.HasPrefix(name, ":") {
					return p, false
				}
			}
		}
	}
	if len(parts) > 2 {
		p.extend = strings.ReplaceAll(strings.Join(strings.Fields(parts[2]), " "), "#", "")
	}
	p.step = p.plus
	if len(behind) > 0 {
		if p.step, p.after = armNumber(behind[0]); !p.after || len(behind) > 1 {
			return p, false
		}
	}
	return p, len(parts) < 4
}
