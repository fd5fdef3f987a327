package sim

import (
	"path/filepath"
	"slices"
	"strings"
)

// The compilers' instrumentation misses some accesses: g++'s those of calls, whose
// result or arguments are structures in memory; clang's those of odd sizes; both what
// an attribute excludes. So this pass reads the assembly. Whatever touches
// memory outside the thread's stack, and has no hook for that address just before it, gets
// a hook of its own.

// unseen is one pass over a module's assembly.
type unseen struct {
	*unknowns
	lines    []statement
	blocks   []block
	byLabel  map[string]int
	readOnly map[string]bool // names of constants
	own      []bool          // by line: in a function of the simulator that no check sees
	order    []int           // of the blocks: what comes before first, but for loops
	telling  map[int]bool    // lines of hooks that shall remember what they are told
	covered  map[int]bool    // lines of accesses that a hook before another one tells of
	late     map[int]bool    // lines of hooks of loads that a copy may overtake
}

// processor is what differs between the assemblies of processors: how they are read and
// followed, and how functions call each other.
type processor struct {
	parse  func(text string, all forms) statement
	follow func(s *state, i *statement)
	// watch writes the hooks that an instruction lacks, and rewritten what becomes of it.
	watch     func(u *unseen, out *strings.Builder, s *state, line int) error
	rewritten func(l *statement, tells bool) string
	// late lists the hooks of loads that a copy may overtake (overtaken.go); nil where nothing looks for them.
	late func(u *unseen) map[int]bool
	// Numbers of registers.
	registers, stack, result int
	arguments                [2]int
	callerSaved              []int
}

// seeAll returns the assembly with hooks for what has none.
func seeAll(assembly string, p *processor) (string, error) {
	u := &unseen{byLabel: map[string]int{}, readOnly: map[string]bool{}, telling: map[int]bool{}, covered: map[int]bool{},
		unknowns: &unknowns{byName: map[origin]int{}, left: map[int][]int{}, arrive: map[int][]int{}, sums: map[string]int{}, halves: map[int]value{}, exposed: map[int]int64{}, processor: p}}
	all := forms{}
	u.lines = make([]statement, 0, strings.Count(assembly, "\n")+1)
	for text := range strings.Lines(assembly) {
		u.lines = append(u.lines, p.parse(strings.TrimRight(text, "\n"), all))
	}
	if p.late != nil {
		u.late = p.late(u)
	}
	u.survey()
	u.cut()
	u.sort()
	u.settle()
	watched, err := u.write()
	if err != nil || len(u.telling) == 0 {
		return watched, err
	}
	return u.write() // now that it is known which hooks others ask
}

func (u *unseen) write() (string, error) {
	var out strings.Builder
	at := 0
	var failed error
	for i := range u.blocks {
		b := &u.blocks[i]
		for ; at < b.from; at++ {
			out.WriteString(u.lines[at].text + "\n")
		}
		u.walk(i, func(s *state, line int) {
			if err := u.processor.watch(u, &out, s, line); err != nil && failed == nil {
				failed = err
			}
			l := &u.lines[line]
			if u.late[line] && !u.telling[line] {
				out.WriteString(unlessOwn(saysLate(l)))
				return
			}
			out.WriteString(u.processor.rewritten(l, u.telling[line]))
		})
		if !u.reached(b) {
			b.after = nil
		}
		at = b.to
	}
	for ; at < len(u.lines); at++ {
		out.WriteString(u.lines[at].text + "\n")
	}
	return out.String(), failed
}

// ownFunctions are the simulator's functions that work on the memory of other threads, or
// report what they do themselves.
var ownFunctions = []string{"_ZN4simt11simt_update", "_ZN4simt11reduceLanes", "_ZN4simt5Entry", "_ZN6nvcuda4wmma11simt_detail7Product"}

// tableFiles are what the table of kernels is from, as compilers name it: the call of a kernel is at its row.
var tableFiles = []string{"module.cpp", askedFor}

// survey finds the constants, and the simulator's own functions: those of its names that
// begin in one of its headers. What the compiler has inlined into one from a kernel's file stays that file's.
func (u *unseen) survey() {
	u.own = make([]bool, len(u.lines))
	files := map[string]string{}
	constant, function, inOurs, ours := false, "", false, false
	for i, l := range u.lines {
		var fields []string
		if l.label == "" && l.op == "" {
			fields = strings.Fields(l.text)
		}
		if constant && l.label != "" {
			u.readOnly[l.label] = true
		}
		switch {
		case l.label != "" && !strings.HasPrefix(l.label, ".L"):
			if function = ""; slices.ContainsFunc(ownFunctions, func(p string) bool { return strings.HasPrefix(l.label, p) }) {
				function = l.label
			}
			inOurs, ours = false, false
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
		case fields[0] == ".loc" && (function != "" || inOurs):
			ours = strings.HasPrefix(files[fields[1]], headersLink+"/") || inOurs && slices.Contains(tableFiles, files[fields[1]])
			if function != "" && ours { // its first line
				inOurs = true
				for j := i; j > 0 && !u.own[j] && (u.lines[j].label == "" || strings.HasPrefix(u.lines[j].label, ".L")); j-- {
					u.own[j] = true
				}
			}
			function = ""
		case fields[0] == ".cfi_endproc":
			inOurs, ours = false, false
		}
		u.own[i] = u.own[i] || ours
	}
}
