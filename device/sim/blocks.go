package sim

import (
	"slices"
	"strings"
)

// block is a run of instructions without jumps.
type block struct {
	from, to int    // lines
	before   []int  // blocks that may come before
	entry    bool   // others may jump here, too
	after    *state // what is known when it is over; nil until it was gone through
}

// cut finds the blocks, and who comes before whom.
func (u *unseen) cut() {
	targets := map[string]bool{}
	for _, l := range u.lines {
		if l.jump != "" {
			targets[l.jump] = true
		}
	}
	start := 0
	end := func(i int) {
		if i > start {
			u.blocks = append(u.blocks, block{from: start, to: i})
		}
		start = i
	}
	for i, l := range u.lines {
		function := l.label != "" && !strings.HasPrefix(l.label, ".L")
		if function || targets[l.label] && l.label != "" {
			end(i)
		}
		if l.jump != "" || l.ends {
			end(i + 1)
		}
	}
	end(len(u.lines))
	anywhere := slices.ContainsFunc(u.lines, func(l statement) bool { return strings.HasPrefix(l.jump, "*") })
	for i, b := range u.blocks {
		l := u.lines[b.from]
		if l.label != "" {
			u.byLabel[l.label] = i
		}
		u.blocks[i].entry = i == 0 || anywhere || l.label != "" && !strings.HasPrefix(l.label, ".L")
	}
	for i, b := range u.blocks {
		last := u.lines[b.to-1]
		if last.jump != "" {
			if to, ok := u.byLabel[last.jump]; ok {
				u.blocks[to].before = append(u.blocks[to].before, i)
			}
		}
		if i+1 < len(u.blocks) && !last.ends {
			u.blocks[i+1].before = append(u.blocks[i+1].before, i)
		}
	}
}

// sort finds an order of the blocks in which each comes after all that lead to it, but for loops.
func (u *unseen) sort() {
	after := make([][]int, len(u.blocks))
	for i, b := range u.blocks {
		for _, before := range b.before {
			after[before] = append(after[before], i)
		}
	}
	seen := make([]bool, len(u.blocks))
	var visit func(i int)
	visit = func(i int) {
		seen[i] = true
		for _, next := range after[i] {
			if !seen[next] {
				visit(next)
			}
		}
		u.order = append(u.order, i)
	}
	for i := range u.blocks {
		if u.blocks[i].entry && !seen[i] {
			visit(i)
		}
	}
	slices.Reverse(u.order)
}

// settle goes through the blocks until no more is learnt of what holds addresses on the
// stack. That takes few rounds; if not, every block is taken to be reached from anywhere.
func (u *unseen) settle() {
	after := make([][]int, len(u.blocks))
	for i, b := range u.blocks {
		for _, before := range b.before {
			after[before] = append(after[before], i)
		}
	}
	stale := make([]bool, len(u.blocks)) // what comes before has changed
	again := true
	for round := 0; again; round++ {
		if round == 0 || u.changed || round == 100 {
			for i := range stale {
				stale[i] = true
			}
		}
		again, u.changed = false, false
		for _, i := range u.order {
			if round == 100 {
				u.blocks[i].entry = true
			}
			if !stale[i] || !u.reached(&u.blocks[i]) {
				continue
			}
			stale[i] = false
			if u.walk(i, nil) {
				again = true
				for _, next := range after[i] {
					stale[next] = true
				}
			}
		}
		again = (again || u.changed) && round <= 200
	}
}

// reached: code that nothing leads to is no way to what follows it.
func (u *unseen) reached(b *block) bool {
	return b.entry || slices.ContainsFunc(b.before, func(i int) bool { return u.blocks[i].after != nil })
}

// walk goes through a block; it says whether that changed what is known at its end.
func (u *unseen) walk(n int, visit func(s *state, line int)) bool {
	b := &u.blocks[n]
	s := u.start(n)
	for i := b.from; i < b.to; i++ {
		s.line, s.made = i, 0
		if visit != nil {
			visit(s, i)
		}
		if u.lines[i].op != "" {
			u.processor.follow(s, &u.lines[i])
		}
	}
	changed := b.after == nil || !b.after.equal(s)
	b.after = s
	return changed
}

// start is what is known where a block begins: what all ways to it agree on.
func (u *unseen) start(n int) *state {
	b := &u.blocks[n]
	var from []*state
	for _, before := range b.before {
		if p := u.blocks[before].after; p != nil {
			from = append(from, p)
		}
	}
	if b.entry {
		from = nil
	}
	if len(from) == 1 && len(b.before) == 1 {
		return from[0].clone()
	}
	s := &state{unknowns: u.unknowns, registers: make([]value, u.processor.registers), slots: map[slotKey]slot{}, line: b.from}
	for r := range s.registers {
		s.registers[r], _ = u.meet(u.arriving(n, r), from, func(p *state) (value, bool) { return p.registers[r], true })
	}
	stack := u.processor.stack
	if !s.local(s.registers[stack]) {
		s.registers[stack] = u.named(origin{what: "stack", at: n})
	}
	s.stackPointer(s.registers[stack])
	if len(from) == 0 {
		return s
	}
	for k, first := range from[0].slots {
		v, agreed := u.meet(u.named(origin{what: "slot", at: n, more: k.bytes, of: [3]id{k.at}}), from, func(p *state) (value, bool) { q, ok := p.slots[k]; return q.holds, ok })
		if agreed || u.local(v) {
			s.put(first.at, first.bytes, v)
		}
	}
	for _, h := range from[0].hooked {
		if !slices.ContainsFunc(from[1:], func(p *state) bool { return !slices.ContainsFunc(p.hooked, h.equal) }) {
			s.hooked = append(s.hooked, h)
		}
	}
	return s
}

// meet is what several states hold at one place: what they agree on, or else this block's
// own unknown, which is an address on the stack if it is in all of them. That unknown coming
// back, around a loop, agrees with anything.
func (u *unseen) meet(own value, from []*state, at func(p *state) (value, bool)) (v value, agreed bool) {
	var first value
	found, agreed, local := false, len(from) > 0, len(from) > 0
	for _, p := range from {
		v, ok := at(p)
		if ok && v.equal(own) {
			continue
		}
		local = local && ok && u.local(v)
		if !found {
			first, found = v, true
		}
		agreed = agreed && ok && v.equal(first)
	}
	if agreed && found {
		return first, true
	}
	if id := own.terms[0].unknown; u.onStack[id] != local {
		u.onStack[id], u.changed = local, true
	}
	return own, false
}
