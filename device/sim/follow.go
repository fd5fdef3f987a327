package sim

import (
	"regexp"
	"strings"
)

// follow does to the state what an instruction does.
func (s *state) follow(i *statement) {
	if strings.HasPrefix(i.op, "call") {
		name := ""
		if len(i.args) == 1 {
			name, _, _ = strings.Cut(i.args[0], "@")
		}
		s.call(name)
		return
	}
	if len(i.args) == 0 {
		s.implicit(i)
		return
	}
	last := &i.operands[len(i.operands)-1]
	if last.isMem {
		s.store(i, last.memory)
		return
	}
	if !last.isRegister {
		return // an xmm register
	}
	to, bytes := last.register, last.bytes
	switch i.form.base {
	case "cmp", "test", "bt":
	case "push":
		v := s.registers[to]
		s.registers[rsp].plus -= 8
		s.put(s.registers[rsp], 8, v)
	case "pop":
		s.set(to, s.load(s.registers[rsp], 8))
		s.registers[rsp].plus += 8
	case "xchg", "xadd":
		for _, o := range i.operands {
			if o.isRegister {
				s.set(o.register, s.fresh(false))
			}
		}
	case "cmpxchg":
		s.set(rax, s.fresh(false))
		s.set(to, s.fresh(false))
	case "mul", "imul", "div", "idiv":
		if len(i.args) == 1 {
			s.set(rax, s.fresh(false))
			s.set(rdx, s.fresh(false))
			return
		}
		s.set(to, s.result(i, to, bytes))
	default:
		s.set(to, s.result(i, to, bytes))
	}
}

// result is what an instruction leaves in its last operand, a register.
func (s *state) result(i *statement, to, bytes int) value {
	first := &i.operands[0]
	if first.isMem {
		if strings.HasPrefix(i.op, "lea") {
			at := s.address(first.memory)
			if s.local(at) && to != rsp {
				s.expose(at)
			}
			return s.narrowed(at, bytes)
		}
	}
	switch {
	case bytes < 4 || i.vector || i.form.readsFlags:
		return s.fresh(false)
	case i.form.widens > 0 && first.isMem: // it takes the low bytes of its source, and fills up the rest
		return s.widened(i.op, s.operand(first, i.form.widens))
	case i.form.widens > 0:
		return s.widened(i.op, s.low(s.operand(first, 8)))
	}
	from, old := s.operand(first, bytes), s.registers[to]
	constant := len(from.terms) == 0
	switch {
	case first.text == "%rsp" && to != rsp:
		s.expose(from)
		return from
	case i.op == "mov" || i.op == "movq" || i.op == "movabsq" || i.op == "movl":
		return s.narrowed(from, bytes)
	case (i.op == "xorl" || i.op == "xorq" || i.op == "subl" || i.op == "subq") && first.text == i.args[len(i.args)-1]:
		return value{}
	case i.op == "addq" && len(i.args) == 2:
		return old.add(from, 1)
	case i.op == "subq" && len(i.args) == 2:
		return old.add(from, -1)
	case i.op == "incq":
		return old.add(value{plus: 1}, 1)
	case i.op == "decq":
		return old.add(value{plus: -1}, 1)
	case (i.op == "salq" || i.op == "shlq") && len(i.args) == 1:
		return value{}.add(old, 2)
	case (i.op == "salq" || i.op == "shlq") && constant && from.plus < 63:
		return value{}.add(old, 1<<from.plus)
	case i.op == "imulq" && len(i.args) == 3 && constant:
		return value{}.add(s.operand(&i.operands[1], 8), from.plus)
	}
	if len(i.args) > 3 {
		return s.fresh(false)
	}
	as := origin{what: i.op, at: len(i.args)}
	for n := range i.operands {
		v := s.operand(&i.operands[n], bytes)
		if bytes == 4 {
			v = s.low(v)
		}
		as.of[n] = s.id(v)
	}
	if v := s.named(as); bytes == 4 {
		return s.narrowed(v, 4)
	} else {
		return v
	}
}

func (s *state) widened(op string, v value) value {
	return s.named(origin{what: op, of: [3]id{s.id(v)}})
}

var readsFlags = regexp.MustCompile(`^(cmov|set|adc|sbb|rcl|rcr|rd|cpuid|in$|xget)`)

// narrowed is a value's lower half, the upper being zero.
func (s *state) narrowed(v value, bytes int) value {
	switch {
	case bytes == 8:
		return v
	case bytes < 4:
		return s.fresh(false)
	case len(v.terms) == 0:
		return value{plus: int64(uint32(v.plus))}
	}
	half := s.low(v)
	narrow := s.named(origin{what: "narrow", of: [3]id{s.id(half)}})
	s.halves[narrow.terms[0].unknown] = half
	return narrow
}

// low is a value that has the same lower half, the one by which it is named.
func (s *state) low(v value) value {
	if len(v.terms) == 1 && v.terms[0].times == 1 && v.plus == 0 {
		if half, ok := s.halves[v.terms[0].unknown]; ok {
			return half
		}
	}
	return v
}

// operand is the value of a source. What is loaded from other memory than the stack is new.
func (s *state) operand(arg *operand, bytes int) value {
	o := &arg.memory
	switch {
	case arg.isNumber:
		return value{plus: arg.number}
	case strings.HasPrefix(arg.text, "$"):
		return s.named(origin{what: arg.text})
	case arg.isRegister:
		return s.registers[arg.register]
	case !arg.isMem:
		return s.fresh(false)
	case o.base == "rip" && strings.Contains(strings.ToLower(o.symbol), "@got") || o.segment == "fs" && o.base == "":
		return s.named(loaded(arg.text))
	}
	at := s.address(*o)
	if o.segment != "" || !s.local(at) {
		return s.fresh(false)
	}
	return s.load(at, bytes)
}

// loaded is what the loader fills in, once.
func loaded(from string) origin { return origin{what: "load " + from} }

func (s *state) load(at value, bytes int) value {
	p, ok := s.slots[s.slotKey(at, bytes)]
	if !ok {
		p.holds = s.fresh(false)
		s.put(at, bytes, p.holds)
	}
	return p.holds
}

func (s *state) put(at value, bytes int, v value) {
	s.slots[s.slotKey(at, bytes)] = slot{at, bytes, v}
}

// store notes what a place of the stack holds now, and forgets the others if it is not
// certain which one it is.
func (s *state) store(i *statement, o memoryOperand) {
	at := s.address(o)
	t, ok := i.stores, i.listed
	if ok && !t.write {
		if len(i.args) == 1 && (strings.Contains(i.op, "div") || strings.Contains(i.op, "mul")) {
			s.set(rax, s.fresh(false))
			s.set(rdx, s.fresh(false))
		}
		if strings.HasPrefix(i.op, "push") {
			s.registers[rsp].plus -= 8
			delete(s.slots, s.slotKey(s.registers[rsp], 8))
		}
		return
	}
	for _, a := range i.operands[:len(i.operands)-1] {
		if a.isRegister && (strings.HasPrefix(i.op, "xchg") || strings.HasPrefix(i.op, "xadd")) {
			s.set(a.register, s.fresh(false))
		}
	}
	if strings.HasPrefix(i.op, "cmpxchg") {
		s.set(rax, s.fresh(false))
	}
	if strings.HasPrefix(i.op, "pop") {
		s.registers[rsp].plus += 8
	}
	if !s.overwritten(at, t.bytes, ok) || !strings.HasPrefix(i.op, "mov") || i.vector {
		return
	}
	if from := &i.operands[0]; from.isRegister {
		s.put(at, from.bytes, s.narrowed(s.registers[from.register], from.bytes))
	}
}

// overwritten forgets what a store may have changed. It says whether that is one place of the stack.
func (s *state) overwritten(at value, bytes int, known bool) bool {
	if !known || !s.local(at) || len(at.terms) != 1 {
		s.forget()
		if s.local(at) { // some element of an array
			s.slots = map[slotKey]slot{}
		}
		return false
	}
	near := s.slotKey(at, 0)
	if len(s.slots) < 100 { // fewer than there are keys to try below
		for k := range s.slots {
			if apart := k.at.plus - near.at.plus; k.at.terms == near.at.terms && apart < int64(bytes) && apart+int64(k.bytes) > 0 {
				delete(s.slots, k)
			}
		}
		return true
	}
	for n := -15; n < bytes; n++ { // slots that overlap
		near.at.plus = at.plus + int64(n)
		for _, near.bytes = range []int{1, 2, 4, 8, 16} {
			if n+near.bytes > 0 {
				delete(s.slots, near)
			}
		}
	}
	return true
}

// implicit are instructions without operands.
func (s *state) implicit(i *statement) {
	switch i.op {
	case "cltq":
		s.registers[rax] = s.widened("movslq", s.registers[rax])
	case "cqto", "cltd", "cqo", "cdq", "cwtd":
		s.registers[rdx] = s.fresh(false)
	case "cwtl", "cbtw":
		s.registers[rax] = s.fresh(false)
	case "ret", "retq", "nop", "leave", "leaveq", "ud2", "hlt", "mfence", "lfence", "sfence", "pause", "rex64", "fldz", "fld1", "fchs", "fabs", "emms":
		if strings.HasPrefix(i.op, "leave") {
			s.set(rsp, s.registers[rbp])
			s.registers[rsp].plus += 8
			s.registers[rbp] = s.fresh(false)
		}
	default: // string instructions, and any that the tables do not list
		for _, r := range []int{rax, rcx, rdx, rbx, rsi, rdi} {
			s.registers[r] = s.fresh(false)
		}
		s.slots = map[slotKey]slot{}
	}
}
