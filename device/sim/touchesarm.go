package sim

import (
	"regexp"
	"strconv"
	"strings"
)

// armAccess is what an AArch64 instruction does to memory: to one place, or to some of the same
// size that follow each other.
type armAccess struct {
	place     armPlace
	at        int // which operand that is, or -1
	each      int // bytes of a register; 0 for an instruction that nobody knows
	registers int
	write     bool
	none      bool // it only looks like an access
}

func (a *armAccess) bytes() int { return a.each * a.registers }

func (a *armAccess) touch(bytes int) touch {
	return touch{bytes: bytes, read: !a.write, write: a.write}
}

// Loads and stores by name. What is special about the order of some matters to nobody here; but
// what a hook must not interrupt (ldxr and stxr), or does both, is not among them.
var (
	armByWidth = regexp.MustCompile(`^(ld|st)(?:u?r|tr|ar|lr|lur|apr|apur)(b|h|sb|sh|sw)?$`)
	armPairs   = regexp.MustCompile(`^(ld|st)n?p(sw)?$`)
	armVectors = regexp.MustCompile(`^(ld|st)([1-4])(r?)$`)
	armList    = regexp.MustCompile(`^\{\s*v\d+\.(\d*)([bhsd])(?:\s*[-,]\s*v(\d+)\.\d*[bhsd])*\s*\}(\[\d+\])?$`)
)

var armSuffixes = map[string]int{"b": 1, "h": 2, "sb": 1, "sh": 2, "sw": 4}

// armWidth is how many bytes a register's name stands for.
func armWidth(register string) int {
	if _, bytes, ok := armRegister(register); ok {
		return bytes
	}
	if len(register) < 2 || strings.Trim(register[1:], "0123456789") != "" {
		return 0
	}
	return map[byte]int{'b': 1, 'h': 2, 's': 4, 'd': 8, 'q': 16}[register[0]]
}

// readArmAccess reads an instruction with an operand in brackets. nil: that is no memory, but one
// element of a vector.
func readArmAccess(s *statement) *armAccess {
	a := &armAccess{at: -1, registers: 1, none: strings.HasPrefix(s.op, "prf")}
	for i, arg := range s.args {
		if strings.HasPrefix(arg, "[") {
			a.at = i
			break
		}
	}
	if a.at < 0 && strings.Contains(s.text, "[") && !strings.HasPrefix(s.op, "ld") && !strings.HasPrefix(s.op, "st") {
		return nil
	}
	if a.none || a.at < 1 {
		return a
	}
	var ok bool
	if a.place, ok = readArmPlace(s.args[a.at], s.args[a.at+1:]); !ok {
		return a
	}
	if m := armByWidth.FindStringSubmatch(s.op); m != nil && a.at == 1 {
		a.write = m[1] == "st"
		if a.each = armSuffixes[m[2]]; a.each == 0 {
			a.each = armWidth(s.args[0])
		}
	} else if m := armPairs.FindStringSubmatch(s.op); m != nil && a.at == 2 {
		a.write, a.registers = m[1] == "st", 2
		if a.each = armWidth(s.args[0]); m[2] != "" {
			a.each = 4
		}
	} else if m := armVectors.FindStringSubmatch(s.op); m != nil && a.at == 1 {
		a.write = m[1] == "st"
		a.readVectors(s.args[0], m[2], m[3] != "")
	}
	return a
}

// readVectors reads {v0.16b}, {v0.4s - v3.4s} and {v1.s}[2].
func (a *armAccess) readVectors(list, structure string, repeated bool) {
	m := armList.FindStringSubmatch(list)
	if m == nil {
		return
	}
	element := map[string]int{"b": 1, "h": 2, "s": 4, "d": 8}[m[2]]
	count := 1 + strings.Count(list, ",")
	if from, to, ok := strings.Cut(strings.Trim(list, "{} "), "-"); ok {
		first, _ := strconv.Atoi(strings.Trim(strings.SplitN(from, ".", 2)[0], "v "))
		last, _ := strconv.Atoi(strings.Trim(strings.SplitN(to, ".", 2)[0], "v "))
		count = (last-first+32)%32 + 1
	}
	switch lanes, _ := strconv.Atoi(m[1]); {
	case m[4] != "" || repeated:
		a.each = element
	case lanes > 0:
		a.each = element * lanes
	}
	a.registers = count
	if structure != "1" && strconv.Itoa(count) != structure {
		a.each = 0
	}
}
