package sim

import (
	"fmt"
	"regexp"
	"strings"
)

// x86 is the processor whose assembly this file, assembly.go, follow.go and touches.go read.
var x86 = &processor{
	parse: parseStatement, follow: (*state).follow, watch: (*unseen).watch, rewritten: rewritten, late: (*unseen).overtaken,
	registers: 16, stack: rsp, result: rax, arguments: [2]int{rdi, rsi}, callerSaved: callerSaved,
}

// rewritten is what becomes of an instruction.
func rewritten(l *statement, asked bool) string {
	switch {
	case asked:
		return tells(l) + "\n"
	case plainAccess(l):
		return unlessOwn(l.text)
	}
	return l.text + "\n"
}

// watch writes the hooks that an instruction lacks.
func (u *unseen) watch(out *strings.Builder, s *state, line int) error {
	l := &u.lines[line]
	if l.op == "" || u.own[line] || untouched(l.op) {
		return nil
	}
	if bytes, isString := stringOps[l.op]; isString && !xmm(l.args) && (len(l.args) == 0 || l.repeats || strings.Contains(l.text, "%es:")) {
		u.watchString(out, s, *l, bytes)
		return nil
	}
	for i, arg := range l.args {
		o := l.operands[i].memory
		if !l.operands[i].isMem {
			continue
		}
		known, err := u.known(s, o)
		if known || err != nil {
			return err
		}
		t, ok := touches(*l, i)
		if !ok {
			return fmt.Errorf("the compiler uses an instruction that the simulator cannot watch: %s", strings.TrimSpace(l.text))
		}
		at := s.address(o)
		if s.told(at, t) || o.base == "rip" && u.readOnly[o.symbol] && !t.write {
			continue
		}
		if read := (touch{bytes: t.bytes, read: true}); t.read && !s.told(at, read) {
			u.insert(out, u.kind(s, read)+"_read", t.bytes, arg, strict(l.op))
		}
		if write := (touch{bytes: t.bytes, write: true}); t.write && !s.told(at, write) {
			u.insert(out, u.kind(s, write)+"_write", t.bytes, arg, strict(l.op))
		}
	}
	return nil
}

// known tells whether an operand is none of memory that threads share.
func (u *unseen) known(s *state, o memoryOperand) (bool, error) {
	switch {
	case o.segment == "fs" || o.segment == "gs":
		// Thread-local: the simulator's own variables, or the address of the others.
		if o.base == "" && o.index == "" && o.symbol == "" && o.plus == 0 {
			return true, nil
		}
		base := s.registers[registers[o.base].number]
		for _, variable := range []string{"threadIdx", "blockIdx", "blockDim", "gridDim"} {
			if o.index == "" && o.symbol == "" && base.equal(s.named(loaded("simt_"+variable+"@gottpoff(%rip)"))) {
				return true, nil
			}
		}
		return false, fmt.Errorf("a variable is reached in a way that the simulator cannot watch (%%%s:%s)", o.segment, o.symbol)
	case o.base == "rip":
		return strings.HasPrefix(o.symbol, ".L") || strings.Contains(strings.ToLower(o.symbol), "@got"), nil
	}
	return s.local(s.address(o)), nil
}

// kind of hook: may, if one before it may have been told of the same, whose address was
// computed in another way. Those shall remember what they are told.
func (u *unseen) kind(s *state, t touch) string {
	kind := "saw"
	for _, h := range s.hooked {
		if h.bytes >= int64(t.bytes) && (h.op.read && t.read || h.op.write && t.write) {
			kind = "may"
			u.telling[h.line] = true
		}
	}
	return kind
}

// insert writes a call that tells of an access, and changes no register and no flag.
func (u *unseen) insert(out *strings.Builder, op string, bytes int, arg string, strict bool) {
	fmt.Fprintf(out, "\tpushq %%rdi\n\tleaq %s, %%rdi\n", arg)
	if strict && bytes == 16 {
		fmt.Fprintf(out, "\tcall simt_%s_aligned@PLT\n\tpopq %%rdi\n", op)
		return
	}
	for from := 0; from < bytes; {
		n := 1
		for n < 16 && from+2*n <= bytes {
			n *= 2
		}
		fmt.Fprintf(out, "\tcall simt_%s%d@PLT\n", op, n)
		if from += n; from < bytes {
			fmt.Fprintf(out, "\tleaq %d(%%rdi), %%rdi\n", n)
		}
	}
	fmt.Fprint(out, "\tpopq %rdi\n")
}

// tells rewrites the call of a hook that others ask.
func tells(l *statement) string {
	name, _, _ := strings.Cut(l.args[0], "@")
	return "\tcall simt_told_" + plainHook(name) + "@PLT"
}

var plainAccesses = regexp.MustCompile(`^__tsan_(unaligned_)?(read|write)(1|2|4|8|16)(@PLT)?$`)

// plainAccess is the compiler's call of a hook that has nothing to do for the thread's own stack.
func plainAccess(l *statement) bool {
	return strings.HasPrefix(l.op, "call") && len(l.args) == 1 && plainAccesses.MatchString(l.args[0])
}

// unlessOwn makes such a call only where the address is not on the thread's own stack. Tiles of
// registers are arrays there: most of a kernel's hooks may be theirs, and a call costs five times
// as much as looking. A call may change rax, rcx and the flags, so this may, too.
func unlessOwn(call string) string {
	return "\tmovq simt_own_stack@gottpoff(%rip), %rax\n\tmovq %rdi, %rcx\n\tsubq %fs:(%rax), %rcx\n" +
		"\tcmpq $8192, %rcx\n\tjb 1f\n" + call + "\n1:\n"
}

// strict instructions on 16 bytes fail where the address is no multiple of 16.
func strict(op string) bool {
	return op == "movaps" || op == "movdqa" || op == "movapd" || !strings.HasPrefix(op, "mov") && !strings.HasPrefix(op, "lddqu")
}

var stringOps = map[string]int{"movsb": 1, "movsw": 2, "movsl": 4, "movsq": 8, "stosb": 1, "stosw": 2, "stosl": 4, "stosq": 8}

// watchString tells of what a string instruction reads at rsi and writes at rdi.
func (u *unseen) watchString(out *strings.Builder, s *state, l statement, bytes int) {
	size := fmt.Sprintf("leaq (,%%rcx,%d), %%rsi", bytes)
	if !l.repeats {
		size = fmt.Sprintf("movq $%d, %%rsi", bytes)
	}
	tell := func(op, address string, at int) {
		if s.local(s.registers[at]) {
			return
		}
		fmt.Fprintf(out, "\tpushq %%rdi\n\tpushq %%rsi\n\tmovq %s, %%rdi\n\t%s\n\tcall simt_saw_%s_range@PLT\n\tpopq %%rsi\n\tpopq %%rdi\n", address, size, op)
	}
	if strings.HasPrefix(l.op, "mov") {
		tell("read", "%rsi", rsi)
	}
	tell("write", "%rdi", rdi)
}
