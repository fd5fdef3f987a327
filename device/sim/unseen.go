package sim

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The compilers' instrumentation misses some accesses: g++'s those of calls, whose
// result or arguments are structures in memory; clang's those of odd sizes; both what
// an attribute excludes. So the compiler's assembly is gone through. Whatever touches
// memory without a hook that was told of that address just before, and is not the
// thread's stack, gets a call of its own.

// unseen is one pass over a module's assembly.
type unseen struct {
	*unknowns
	include  string // the simulator's headers
	lines    []statement
	blocks   []block
	byLabel  map[string]int
	readOnly map[string]bool // names of constants
	own      []bool          // by line: in a function of the simulator that no check sees
	order    []int           // of the blocks: what comes before first, but for loops
	telling  map[int]bool    // lines of hooks that shall remember what they are told
}

// block is a run of instructions without jumps.
type block struct {
	from, to int    // lines
	before   []int  // blocks that may come before
	entry    bool   // others may jump here, too
	after    *state // what is known when it is over; nil until it was gone through
}

// seeAll returns the assembly with hooks for what has none.
func seeAll(assembly, include string) (string, error) {
	u := &unseen{include: include, byLabel: map[string]int{}, readOnly: map[string]bool{}, telling: map[int]bool{},
		unknowns: &unknowns{byName: map[string]int{}, halves: map[int]value{}, exposed: map[int]int64{}}}
	for text := range strings.Lines(assembly) {
		u.lines = append(u.lines, parseStatement(strings.TrimRight(text, "\n")))
	}
	u.survey()
	u.cut()
	u.sort()
	u.settle()
	if _, err := u.write(); err != nil { // to learn which hooks others ask
		return "", err
	}
	return u.write()
}

func (u *unseen) write() (string, error) {
	var out strings.Builder
	at := 0
	var failed error
	for i := range u.blocks {
		b := &u.blocks[i]
		for ; at < b.from; at++ {
			fmt.Fprintln(&out, u.lines[at].text)
		}
		u.walk(i, func(s *state, line int) {
			if err := u.watch(&out, s, line); err != nil && failed == nil {
				failed = err
			}
			text := u.lines[line].text
			if u.telling[line] {
				text = tells(u.lines[line])
			}
			fmt.Fprintln(&out, text)
		})
		if !u.reached(b) {
			b.after = nil
		}
		at = b.to
	}
	for ; at < len(u.lines); at++ {
		fmt.Fprintln(&out, u.lines[at].text)
	}
	return out.String(), failed
}

// ownFunctions are the simulator's functions that work on the memory of other threads, or
// report what they do themselves.
var ownFunctions = []string{"_ZN4simt6update", "_ZN4simt11reduceLanes", "_ZN4simt5Entry", "_ZN6nvcuda4wmma6detail7Product"}

// survey finds the constants, and the simulator's own functions: those of its names that
// begin in one of its headers.
func (u *unseen) survey() {
	u.own = make([]bool, len(u.lines))
	files := map[string]string{}
	constant, function, ours := false, "", false
	for i, l := range u.lines {
		fields := strings.Fields(l.text)
		switch {
		case l.label != "" && !strings.HasPrefix(l.label, ".L"):
			if function = ""; slices.ContainsFunc(ownFunctions, func(p string) bool { return strings.HasPrefix(l.label, p) }) {
				function = l.label
			}
			ours = false
			if constant {
				u.readOnly[l.label] = true
			}
		case len(fields) == 0:
		case fields[0] == ".section":
			constant = strings.HasPrefix(fields[1], ".rodata") || strings.HasPrefix(fields[1], ".data.rel.ro")
		case fields[0] == ".text" || fields[0] == ".data" || fields[0] == ".bss":
			constant = false
		case fields[0] == ".file" && len(fields) > 2:
			var path string
			for _, part := range strings.Split(l.text, `"`)[1:] {
				if strings.TrimSpace(part) != "" && !strings.HasPrefix(strings.TrimSpace(part), "md5") {
					path = filepath.Join(path, part)
					if filepath.IsAbs(part) {
						path = part
					}
				}
			}
			files[fields[1]] = path
		case fields[0] == ".loc" && function != "":
			ours = strings.HasPrefix(files[fields[1]], u.include)
			function = ""
			if ours {
				for j := i; j > 0 && !u.own[j] && (u.lines[j].label == "" || strings.HasPrefix(u.lines[j].label, ".L")); j-- {
					u.own[j] = true
				}
			}
		case fields[0] == ".cfi_endproc":
			ours = false
		}
		u.own[i] = u.own[i] || ours
	}
}

// cut finds the blocks, and who comes before whom.
func (u *unseen) cut() {
	targets := map[string]bool{}
	for _, l := range u.lines {
		if strings.HasPrefix(l.op, "j") && len(l.args) == 1 {
			targets[l.args[0]] = true
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
		if strings.HasPrefix(l.op, "j") || strings.HasPrefix(l.op, "ret") || l.op == "ud2" {
			end(i + 1)
		}
	}
	end(len(u.lines))
	anywhere := slices.ContainsFunc(u.lines, func(l statement) bool { return l.op == "jmp" && strings.HasPrefix(l.args[0], "*") })
	for i, b := range u.blocks {
		l := u.lines[b.from]
		if l.label != "" {
			u.byLabel[l.label] = i
		}
		u.blocks[i].entry = i == 0 || anywhere || l.label != "" && !strings.HasPrefix(l.label, ".L")
	}
	for i, b := range u.blocks {
		last := u.lines[b.to-1]
		if strings.HasPrefix(last.op, "j") && len(last.args) == 1 {
			if to, ok := u.byLabel[last.args[0]]; ok {
				u.blocks[to].before = append(u.blocks[to].before, i)
			}
		}
		if i+1 < len(u.blocks) && last.op != "jmp" && !strings.HasPrefix(last.op, "ret") && last.op != "ud2" {
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
	again := true
	for round := 0; again; round++ {
		again, u.changed = false, false
		for _, i := range u.order {
			if round == 100 {
				u.blocks[i].entry = true
			}
			if u.reached(&u.blocks[i]) {
				again = u.walk(i, nil) || again
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
			s.follow(u.lines[i])
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
	s := &state{unknowns: u.unknowns, slots: map[string]slot{}, line: b.from}
	for r := range s.registers {
		s.registers[r], _ = u.meet(n, "register "+strconv.Itoa(r), from, func(p *state) (value, bool) { return p.registers[r], true })
	}
	if !s.local(s.registers[rsp]) {
		s.registers[rsp] = u.named(fmt.Sprintf("stack, block %d", n))
	}
	s.stackPointer(s.registers[rsp])
	if len(from) == 0 {
		return s
	}
	for k, first := range from[0].slots {
		v, agreed := u.meet(n, k, from, func(p *state) (value, bool) { q, ok := p.slots[k]; return q.holds, ok })
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

// meet is what several states hold at one place: what they agree on, or else an unknown of
// this block's, which is an address on the stack if it is in all of them. That unknown coming
// back, around a loop, agrees with anything.
func (u *unseen) meet(n int, place string, from []*state, at func(p *state) (value, bool)) (v value, agreed bool) {
	own := u.named(fmt.Sprintf("block %d, %s", n, place))
	var first *value
	agreed, local := len(from) > 0, len(from) > 0
	for _, p := range from {
		v, ok := at(p)
		if ok && v.key() == own.key() {
			continue
		}
		local = local && ok && u.local(v)
		if first == nil {
			first = &v
		}
		agreed = agreed && ok && v.key() == first.key()
	}
	if agreed && first != nil {
		return *first, true
	}
	if id := own.terms[0].unknown; u.onStack[id] != local {
		u.onStack[id], u.changed = local, true
	}
	return own, false
}
