package sim

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// value is what a register or a place on the stack holds, as a sum of unknowns. Two
// values with equal terms differ by a constant, whatever the unknowns are.
type value struct {
	terms []term // by unknown
	plus  int64
}

type term struct {
	unknown int
	times   int64
}

// id names a value: its terms, by number, and what is added.
type id struct {
	terms int
	plus  int64
}

// origin names an unknown: an instruction on values, or a place.
type origin struct {
	what     string
	at, more int
	of       [3]id
}

// unknowns numbers what cannot be followed further: the same expression has the same
// number. Some are known to be addresses on the thread's stack.
type unknowns struct {
	byName  map[origin]int
	left    map[int][]int  // those that an instruction leaves, by its line
	arrive  map[int][]int  // what registers hold where a block begins, by the block
	sums    map[string]int // numbers of terms that are not one unknown
	onStack []bool
	alone   []term        // each of them once, by its number: most values are one of these
	halves  map[int]value // an unknown whose upper half is zero → what has its lower half
	// exposed are the lowest offsets whose address code has taken, by the stack pointer that
	// they are from: below, nobody can change what the code itself does not name.
	exposed map[int]int64
	changed bool // an address was taken further down than any before

	processor *processor
}

// slot is a place on the stack, and what it holds.
type slot struct {
	at    value
	bytes int
	holds value
}

type slotKey struct {
	at    id
	bytes int
}

func (u *unknowns) slotKey(at value, bytes int) slotKey { return slotKey{u.id(at), bytes} }

// expose notes that an address on the stack is taken.
func (u *unknowns) expose(at value) {
	for _, t := range at.terms {
		if lowest, ok := u.exposed[t.unknown]; ok && at.plus < lowest {
			u.exposed[t.unknown], u.changed = at.plus, true
		}
	}
}

// hidden: nobody has the address of this slot.
func (u *unknowns) hidden(p slot) bool {
	if len(p.at.terms) != 1 {
		return false
	}
	lowest, ok := u.exposed[p.at.terms[0].unknown]
	return ok && p.at.plus+int64(p.bytes) <= lowest
}

// stackPointer makes a value one that the stack pointer has.
func (u *unknowns) stackPointer(v value) value {
	n := v.terms[0].unknown
	u.onStack[n] = true
	if _, ok := u.exposed[n]; !ok {
		u.exposed[n] = math.MaxInt64
	}
	return v
}

// fresh is what an instruction leaves that cannot be followed: named by its place.
func (s *state) fresh(onStack bool) value {
	made := s.left[s.line]
	if s.made == len(made) {
		made = append(made, s.number())
		s.left[s.line] = made
	}
	n := made[s.made]
	s.made++
	s.onStack[n] = onStack
	return s.just(n)
}

// number is one that no unknown has yet.
func (u *unknowns) number() int {
	u.onStack, u.alone = append(u.onStack, false), append(u.alone, term{len(u.alone), 1})
	return len(u.onStack) - 1
}

// just is a value of one unknown. Nobody changes terms, so all such values share theirs.
func (u *unknowns) just(unknown int) value {
	return value{terms: u.alone[unknown : unknown+1 : unknown+1]}
}

// arriving is what a register holds where a block begins.
func (u *unknowns) arriving(block, register int) value {
	for len(u.arrive[block]) <= register {
		u.arrive[block] = append(u.arrive[block], u.number())
	}
	return u.just(u.arrive[block][register])
}

func (u *unknowns) named(as origin) value {
	n, ok := u.byName[as]
	if !ok {
		n = u.number()
		u.byName[as] = n
	}
	return u.just(n)
}

// local tells whether a value is an address on the stack, and some offset.
func (u *unknowns) local(v value) bool {
	return slices.ContainsFunc(v.terms, func(t term) bool { return t.times == 1 && u.onStack[t.unknown] })
}

func (v value) add(w value, times int64) value {
	sum := value{plus: v.plus + times*w.plus}
	switch {
	case len(w.terms) == 0:
		sum.terms = v.terms
		return sum
	case len(v.terms) == 0 && times == 1:
		sum.terms = w.terms
		return sum
	}
	i, j := 0, 0
	for i < len(v.terms) || j < len(w.terms) {
		switch {
		case j == len(w.terms) || i < len(v.terms) && v.terms[i].unknown < w.terms[j].unknown:
			sum.terms = append(sum.terms, v.terms[i])
			i++
		case i == len(v.terms) || w.terms[j].unknown < v.terms[i].unknown:
			sum.terms = append(sum.terms, term{w.terms[j].unknown, times * w.terms[j].times})
			j++
		default:
			if n := v.terms[i].times + times*w.terms[j].times; n != 0 {
				sum.terms = append(sum.terms, term{v.terms[i].unknown, n})
			}
			i, j = i+1, j+1
		}
	}
	return sum
}

// id of a value. One unknown, as most values are, has its own number; other sums have
// numbers below it.
func (u *unknowns) id(v value) id {
	if len(v.terms) == 1 && v.terms[0].times == 1 {
		return id{v.terms[0].unknown, v.plus}
	}
	b := make([]byte, 0, 48)
	for _, t := range v.terms {
		b = append(strconv.AppendInt(b, int64(t.unknown), 10), '*')
		b = append(strconv.AppendInt(b, t.times, 10), ' ')
	}
	n, ok := u.sums[string(b)]
	if !ok {
		n = -1 - len(u.sums)
		u.sums[string(b)] = n
	}
	return id{n, v.plus}
}

func (v value) equal(w value) bool { return v.plus == w.plus && slices.Equal(v.terms, w.terms) }

// state is what is known at one place of the code.
type state struct {
	*unknowns
	line, made int // where it is, and how many unknowns it has named there
	registers  []value
	slots      map[slotKey]slot // of the stack, by address and width
	hooked     []seen
}

func (s *state) clone() *state {
	c := *s
	c.registers = slices.Clone(s.registers)
	c.slots = maps.Clone(s.slots)
	c.hooked = slices.Clone(s.hooked)
	return &c
}

func (s *state) equal(t *state) bool {
	for r := range s.registers {
		if !s.registers[r].equal(t.registers[r]) {
			return false
		}
	}
	if len(s.slots) != len(t.slots) || len(s.hooked) != len(t.hooked) {
		return false
	}
	for i := range s.hooked {
		if !s.hooked[i].equal(t.hooked[i]) {
			return false
		}
	}
	for k, p := range s.slots {
		if q, ok := t.slots[k]; !ok || !q.holds.equal(p.holds) {
			return false
		}
	}
	return true
}

func (s *state) address(o memoryOperand) value {
	v := value{plus: o.plus}
	if o.symbol != "" {
		v = v.add(s.named(origin{what: "symbol " + o.symbol}), 1)
	}
	if o.baseAt >= 0 {
		v = v.add(s.registers[o.baseAt], 1)
	}
	if o.indexAt >= 0 {
		v = v.add(s.registers[o.indexAt], o.scale)
	}
	return v
}

func (s *state) set(register int, v value) {
	if register == s.processor.stack && !s.local(v) { // aligned, or come back to
		v = s.stackPointer(s.named(origin{what: "stack of", of: [3]id{s.id(v)}}))
	}
	s.registers[register] = v
}

// forget all places of the stack that somebody else may have written.
func (s *state) forget() {
	for k, p := range s.slots {
		if !s.hidden(p) {
			delete(s.slots, k)
		}
	}
}

// call forgets what a function may have changed.
func (s *state) call(name string) {
	result := s.fresh(false)
	switch {
	case name == "__tls_get_addr":
		result = s.named(origin{what: "shared", of: [3]id{s.id(s.registers[s.processor.arguments[0]])}})
	case strings.HasPrefix(name, "__tsan_"):
		s.hook(name)
	case name == hook || strings.HasPrefix(name, "__ubsan_"):
	default:
		s.hooked = nil
		s.forget()
	}
	for _, r := range s.processor.callerSaved {
		s.registers[r] = s.fresh(false)
	}
	s.registers[s.processor.result] = result
}
