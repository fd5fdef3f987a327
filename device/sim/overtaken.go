package sim

import (
	"fmt"
	"slices"
	"strings"
)

// A GPU's load waits in line, and its thread goes on until it uses the value. An arrival at an mbarrier does not wait:
// if a copy then refills what is to be loaded, the load gets the new data. So this pass looks for loads whose value is
// used for the first time behind an arrival, and has their hooks say so (runtime/overtaken.cpp). What a compiler for this
// machine uses before the call of the arrival counts as used before it. x86-64 only.

// carried is where a loaded value is that nothing has used yet.
type carried struct {
	registers uint32 // general ones, and xmm from bit 16 on
	slots     string // on the stack, each with a ; behind it
	arrived   bool   // an arrival was on the way
}

const xmmRegisters = 0xffff << 16

func (c carried) nowhere() bool { return c.registers == 0 && c.slots == "" }

// has tells whether an operand is one of its places.
func (c carried) has(o operand) bool {
	if slot := stackSlot(o); slot != "" {
		return strings.Contains(";"+c.slots, ";"+slot+";")
	}
	return c.registers&registerBit(o) != 0
}

// with makes an operand one of its places, or none any more.
func (c carried) with(o operand, holds bool) carried {
	if slot := stackSlot(o); slot != "" {
		c.slots = strings.TrimPrefix(strings.Replace(";"+c.slots, ";"+slot+";", ";", 1), ";")
		if holds {
			c.slots += slot + ";"
		}
		return c
	}
	c.registers &^= registerBit(o)
	if holds {
		c.registers |= registerBit(o)
	}
	return c
}

func registerBit(o operand) uint32 {
	if o.isRegister {
		return 1 << o.register
	}
	var n int
	if _, err := fmt.Sscanf(o.text, "%%xmm%d", &n); err != nil || n > 15 {
		return 0
	}
	return 1 << (16 + n)
}

// stackSlot names a place on the thread's stack.
func stackSlot(o operand) string {
	if !o.isMem || o.memory.base != "rsp" || o.memory.index != "" {
		return ""
	}
	return o.text
}

// movesOnly tells whether an instruction only moves its first operand to its second.
func movesOnly(l *statement) bool {
	return len(l.args) == 2 && (l.form.base == "mov" || l.form.widens > 0 || slices.Contains([]string{"movss", "movsd", "movaps", "movups",
		"movapd", "movupd", "movdqa", "movdqu", "movd", "movq"}, l.op))
}

// transparent are calls that neither wait nor use what a kernel has loaded.
func transparent(name string) bool {
	return strings.HasPrefix(name, "__tsan_read") || strings.HasPrefix(name, "__tsan_unaligned_read") || strings.HasPrefix(name, "__tsan_write") ||
		strings.HasPrefix(name, "__tsan_unaligned_write") || name == "__sanitizer_cov_trace_pc" || name == "__tls_get_addr" || strings.HasPrefix(name, "simt_shared_") ||
		name == "simt_lane" || name == "simt_clock"
}

const arrival = "simt_mbarrier_arrive"

func called(l *statement) string {
	if !strings.HasPrefix(l.op, "call") || len(l.args) != 1 {
		return ""
	}
	name, _, _ := strings.Cut(l.args[0], "@")
	return name
}

// overtaken lists the hooks of such loads, by their lines.
func (u *unseen) overtaken() map[int]bool {
	late := map[int]bool{}
	if !slices.ContainsFunc(u.lines, func(l statement) bool { return called(&l) == arrival }) {
		return late
	}
	labels := map[string]int{}
	for i, l := range u.lines {
		if l.label != "" {
			labels[l.label] = i
		}
	}
	for i := range u.lines {
		if l := &u.lines[i]; plainAccess(l) && strings.Contains(l.args[0], "read") {
			if next, c := u.loaded(i); !c.nowhere() && u.usedLate(next, c, labels) {
				late[i] = true
			}
		}
	}
	return late
}

// loaded is where the load behind a hook puts the value, and the line behind that.
func (u *unseen) loaded(hook int) (next int, c carried) {
	for i := hook + 1; i < min(hook+12, len(u.lines)); i++ {
		l := &u.lines[i]
		switch {
		case called(l) != "" || l.label != "" || l.jump != "" || l.ends:
			return i, c
		case len(l.operands) > 0 && l.operands[0].isMem && stackSlot(l.operands[0]) == "" && !untouched(l.op):
			if !movesOnly(l) {
				return i, c
			}
			return i + 1, c.with(l.operands[1], true)
		}
	}
	return hook, c
}

// usedLate tells whether on some way from a line the first use of the value is behind an arrival.
func (u *unseen) usedLate(from int, c carried, labels map[string]int) bool {
	type place struct {
		line int
		carried
	}
	seen := map[place]bool{}
	open := []place{{from, c}}
	for len(open) > 0 && len(seen) < 4000 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		if p.line >= len(u.lines) || seen[p] {
			continue
		}
		seen[p] = true
		l := &u.lines[p.line]
		c, used := p.after(l)
		if used && c.arrived {
			return true
		}
		if used || c.nowhere() {
			continue
		}
		if to, ok := labels[l.jump]; ok {
			open = append(open, place{to, c})
		}
		if !l.ends {
			open = append(open, place{p.line + 1, c})
		}
	}
	return false
}

// after is what an instruction leaves of it, and whether it uses the value.
func (c carried) after(l *statement) (carried, bool) {
	if l.op == "" {
		return c, false
	}
	if strings.HasPrefix(l.op, "call") {
		return c.afterCall(called(l))
	}
	for _, o := range l.operands {
		if o.isMem && (o.memory.baseAt >= 0 && c.registers>>o.memory.baseAt&1 != 0 || o.memory.indexAt >= 0 && c.registers>>o.memory.indexAt&1 != 0) {
			return c, true // as an address
		}
	}
	if movesOnly(l) {
		from, to := l.operands[0], l.operands[1]
		if to.isMem && stackSlot(to) == "" {
			return c, c.has(from)
		}
		return c.with(to, c.has(from)), false
	}
	last := len(l.operands) - 1
	if last < 0 { // as cltq
		return c, c.registers&(1<<rax) != 0
	}
	zeroes := last == 1 && strings.Contains(l.op, "xor") && l.args[0] == l.args[1]
	if !zeroes && slices.ContainsFunc(l.operands, c.has) {
		return c, true
	}
	return c.with(l.operands[last], false), false
}

func (c carried) afterCall(name string) (carried, bool) {
	arrives := name == arrival
	if !arrives && !transparent(name) {
		return carried{}, false // it may wait, or use it
	}
	for _, r := range []int{rdi, rsi, rdx, rcx, 8} {
		if c.registers>>r&1 != 0 && (arrives || r == rdi) {
			return c, true
		}
	}
	c.registers &^= xmmRegisters
	for _, r := range callerSaved {
		c.registers &^= 1 << r
	}
	c.arrived = c.arrived || arrives
	return c, false
}

// saysLate is the call of a hook that notes it, too.
func saysLate(l *statement) string {
	return strings.Replace(strings.Replace(l.text, "__tsan_unaligned_read", "__tsan_read", 1), "__tsan_read", "simt_late_read", 1)
}
