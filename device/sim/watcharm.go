package sim

import (
	"fmt"
	"regexp"
	"strings"
)

// watchArm writes the hooks that an AArch64 instruction lacks.
func (u *unseen) watchArm(out *strings.Builder, s *state, line int) error {
	l := &u.lines[line]
	if l.op == "" || u.own[line] {
		return nil
	}
	if a := l.access; a == nil && !unwatched.MatchString(l.op) || a != nil && a.none {
		return nil
	} else if a == nil || a.each == 0 {
		return fmt.Errorf("the compiler uses an instruction that the simulator cannot watch: %s", strings.TrimSpace(l.text))
	}
	if u.covered[line] {
		return nil
	}
	parts := u.lacking(s, l)
	if len(parts) == 1 && parts[0].bytes == int64(l.access.bytes()) {
		parts[0].bytes = u.joined(s, line)
	}
	for _, m := range parts {
		u.insertArm(out, u.kind(s, l.access.touch(int(m.bytes))), l.access, m)
	}
	return nil
}

// unwatched instructions reach memory, or the system, without an operand in brackets.
var unwatched = regexp.MustCompile(`^(dc|ic|at|sys|sysl|tlbi|svc|hvc|smc)$`)

// missed is a part of an access that no hook was told of: some bytes of it, from its first.
type missed struct{ from, bytes int64 }

// lacking are the parts of an access that no hook was told of. Of a pair of registers one may
// have been told of, if the compiler joined what the source does on its own.
func (u *unseen) lacking(s *state, l *statement) []missed {
	a := l.access
	at := s.armAddress(a.place)
	if u.knownArm(s, a, at) || s.told(at, a.touch(a.bytes())) {
		return nil
	}
	var parts []missed
	for n := range int64(a.registers) {
		m := missed{n * int64(a.each), int64(a.each)}
		if s.told(at.add(value{plus: m.from}, 1), a.touch(a.each)) {
			continue
		}
		if last := len(parts) - 1; last >= 0 && parts[last].from+parts[last].bytes == m.from {
			parts[last].bytes += m.bytes
			continue
		}
		parts = append(parts, m)
	}
	return parts
}

// knownArm tells whether an address is none of memory that threads share.
func (u *unseen) knownArm(s *state, a *armAccess, at value) bool {
	if filled(a.place) || s.local(at) {
		return true
	}
	if a.write {
		return false
	}
	if _, symbol := relocated(a.place.symbol); symbol != "" {
		symbol, _ = splitDisplacement(symbol)
		return u.readOnly[symbol]
	}
	for _, variable := range []string{"threadIdx", "blockIdx", "blockDim", "gridDim"} {
		own := s.named(origin{what: "thread pointer"}).add(s.named(loaded("simt_"+variable)), 1)
		if apart := at.add(own, -1); len(apart.terms) == 0 && apart.plus >= 0 && apart.plus < 12 {
			return true
		}
	}
	return false
}

// insertArm writes calls that tell of a part of an access, and change no register and no flag.
// Between modules the linker's code may use x16 and x17 for itself.
func (u *unseen) insertArm(out *strings.Builder, kind string, a *armAccess, m missed) {
	op := "read"
	if a.write {
		op = "write"
	}
	fmt.Fprint(out, "\tstp\tx0, x30, [sp, -32]!\n\tstp\tx16, x17, [sp, 16]\n")
	p := a.place
	plus := m.from
	if !p.after {
		plus += p.plus
	}
	base := armName(p.base)
	switch {
	case p.symbol != "":
		fmt.Fprintf(out, "\tadd\tx0, %s, %s\n", base, p.symbol)
	case p.index >= 0:
		index, extend := armName(p.index), p.extend
		if strings.HasPrefix(extend, "uxtw") || strings.HasPrefix(extend, "sxtw") {
			index = "w" + index[1:]
		} else if p.base == armStack {
			extend = strings.Replace(extend, "lsl", "uxtx", 1)
		}
		if extend != "" {
			extend = ", " + extend
		}
		fmt.Fprintf(out, "\tadd\tx0, %s, %s%s\n", base, index, extend)
	case p.base != 0:
		fmt.Fprintf(out, "\tmov\tx0, %s\n", base)
	}
	if p.base == armStack {
		plus += 32
	}
	addArm(out, plus)
	for left := int(m.bytes); left > 0; {
		n := 1
		for n < 16 && 2*n <= left {
			n *= 2
		}
		fmt.Fprintf(out, "\tbl\tsimt_%s_%s%d\n", kind, op, n)
		if left -= n; left > 0 {
			addArm(out, int64(n))
		}
	}
	fmt.Fprint(out, "\tldp\tx16, x17, [sp, 16]\n\tldp\tx0, x30, [sp], 32\n")
}

// addArm adds to the address, in as many steps as an instruction's number needs.
func addArm(out *strings.Builder, plus int64) {
	op := "add"
	if plus < 0 {
		op, plus = "sub", -plus
	}
	if high := plus >> 12; high > 0 {
		fmt.Fprintf(out, "\t%s\tx0, x0, %d, lsl 12\n", op, high)
	}
	if low := plus & 0xfff; low > 0 {
		fmt.Fprintf(out, "\t%s\tx0, x0, %d\n", op, low)
	}
}

func armName(register int) string {
	switch register {
	case armStack:
		return "sp"
	case armZero:
		return "xzr"
	}
	return fmt.Sprintf("x%d", register)
}

// rewrittenArm is what becomes of an instruction.
func rewrittenArm(l *statement, asked bool) string {
	switch {
	case asked:
		return "\tbl\tsimt_told_" + plainHook(l.args[0]) + "\n"
	case l.op == "bl" && plainAccesses.MatchString(l.args[0]):
		// As on x86-64, no call for the thread's own stack. A call may change x16 and x17.
		return "\tadrp\tx16, :gottprel:simt_own_stack\n\tldr\tx16, [x16, :gottprel_lo12:simt_own_stack]\n\tmrs\tx17, tpidr_el0\n" +
			"\tldr\tx16, [x17, x16]\n\tsub\tx16, x0, x16\n\tlsr\tx16, x16, 13\n\tcbz\tx16, 1f\n" + l.text + "\n1:\n"
	case l.op == "tbz" || l.op == "tbnz":
		// It reaches 32 KB, which the compiler has counted without our hooks.
		not := map[string]string{"tbz": "tbnz", "tbnz": "tbz"}[l.op]
		return "\t" + not + "\t" + l.args[0] + ", " + l.args[1] + ", 2f\n\tb\t" + l.args[2] + "\n2:\n"
	}
	return l.text + "\n"
}
