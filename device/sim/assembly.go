package sim

import (
	"regexp"
	"strings"
)

// statement is one line of a compiler's assembly, in AT&T's syntax.
type statement struct {
	text    string
	label   string   // it defines one
	op      string   // an instruction's name, without prefixes; "" for a directive
	args    []string // its operands, the destination last
	file    bool     // .file or .loc
	locked  bool
	repeats bool
	jump    string // where it may go on: a label; "*" and more is an address
	ends    bool   // it never goes on with the next line
	// Read once, because a line is followed many times:
	operands []operand
	form     *form
	vector   bool // on an xmm register
	stores   touch
	listed   bool       // stores is known
	access   *armAccess // AArch64's, in place of operands in memory
}

// form is what an instruction's name says.
type form struct {
	base       string // an integer instruction without the suffix for its width
	widens     int    // bytes of the source that a move extends, or 0
	readsFlags bool
}

// forms by name: a module has many instructions, of few names.
type forms map[string]*form

func (all forms) of(op string) *form {
	f, ok := all[op]
	if !ok {
		f = &form{base: op, readsFlags: readsFlags.MatchString(op)}
		if m := integerOps.FindStringSubmatch(op); m != nil {
			f.base = m[1]
		}
		if m := extending.FindStringSubmatch(op); m != nil {
			f.widens = widths[m[1]]
		}
		all[op] = f
	}
	return f
}

var labelLine = regexp.MustCompile(`^([\w.$@]+):`)

var prefixes = regexp.MustCompile(`^(lock|repn?[ez]?|data16|rex64|notrack|bnd)\b[ \t;]*`)

func parseStatement(text string, all forms) statement {
	s := statement{text: text}
	code := strings.TrimSpace(text)
	if strings.Contains(code, ":") {
		if m := labelLine.FindStringSubmatch(code); m != nil {
			s.label = m[1]
			code = strings.TrimSpace(code[len(m[0]):])
		}
	}
	if code == "" || code[0] == '.' || code[0] == '#' {
		s.file = strings.HasPrefix(code, ".file") || strings.HasPrefix(code, ".loc")
		return s
	}
	code, _, _ = strings.Cut(code, "#")
	for code != "" && strings.IndexByte("lrdnb", code[0]) >= 0 {
		m := prefixes.FindStringSubmatch(code)
		if m == nil {
			break
		}
		s.locked = s.locked || m[1] == "lock"
		s.repeats = s.repeats || strings.HasPrefix(m[1], "rep")
		code = code[len(m[0]):]
	}
	op, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(code, "\t", " ")), " ")
	s.op, s.args = op, splitOperands(rest, "(", ")")
	for _, a := range s.args {
		s.operands = append(s.operands, readOperand(a))
	}
	s.form, s.vector = all.of(op), xmm(s.args)
	if strings.HasPrefix(op, "j") && len(s.args) == 1 {
		s.jump = s.args[0]
	}
	s.ends = op == "jmp" || strings.HasPrefix(op, "ret") || op == "ud2"
	if last := len(s.args) - 1; last >= 0 && s.operands[last].isMem {
		s.stores, s.listed = touches(s, last)
	}
	return s
}

// splitOperands cuts at the commas that are outside brackets of these kinds.
func splitOperands(text, opening, closing string) []string {
	var args []string
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case strings.ContainsRune(opening, c):
			depth++
		case strings.ContainsRune(closing, c):
			depth--
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" {
		args = append(args, last)
	}
	return args
}

// operand is one of an instruction's: a general register, a number, a place in memory, or none of them.
type operand struct {
	text                        string
	register, bytes             int
	number                      int64
	memory                      memoryOperand
	isRegister, isNumber, isMem bool
}

func readOperand(arg string) operand {
	o := operand{text: arg}
	o.register, o.bytes, o.isRegister = register(arg)
	if text, ok := strings.CutPrefix(arg, "$"); ok {
		o.number, o.isNumber = immediate(text)
	}
	o.memory, o.isMem = parseMemory(arg)
	return o
}

// memoryOperand is segment:displacement(base,index,scale).
type memoryOperand struct {
	segment, base, index string
	symbol               string // what the displacement names
	plus, scale          int64
	baseAt, indexAt      int // numbers of the registers, or -1
}

var operandForm = regexp.MustCompile(`^(?:%([defgs]s):)?([^()%]*)(?:\((%\w+)?(?:,(%\w+)(?:,(\d))?)?\))?$`)

// parseMemory reads an operand that is in memory.
func parseMemory(arg string) (memoryOperand, bool) {
	if arg == "" || arg[0] == '$' || arg[0] == '*' || arg[0] == '%' && !strings.Contains(arg, ":") {
		return memoryOperand{}, false
	}
	m := operandForm.FindStringSubmatch(arg)
	if m == nil {
		return memoryOperand{}, false
	}
	o := memoryOperand{segment: m[1], base: strings.TrimPrefix(m[3], "%"), index: strings.TrimPrefix(m[4], "%"), scale: 1}
	if m[5] != "" {
		o.scale = int64(m[5][0] - '0')
	}
	o.symbol, o.plus = splitDisplacement(m[2])
	o.baseAt, o.indexAt = registerNumber(o.base), registerNumber(o.index)
	return o, true
}

func registerNumber(name string) int {
	if r, ok := registers[name]; ok {
		return r.number
	}
	return -1
}

// splitDisplacement takes name@kind+12 apart.
func splitDisplacement(text string) (symbol string, plus int64) {
	if n, ok := immediate(text); ok || text == "" {
		return "", n
	}
	if i := strings.LastIndexAny(text, "+-"); i > 0 {
		if n, ok := immediate(strings.TrimPrefix(text[i:], "+")); ok {
			return text[:i], n
		}
	}
	return text, 0
}

// registers by any of their names: the number, and how many bytes of it.
var registers = func() map[string]struct{ number, bytes int } {
	all := map[string]struct{ number, bytes int }{}
	add := func(n, bytes int, name string) { all[name] = struct{ number, bytes int }{n, bytes} }
	for i, r := range []string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"} {
		add(i, 8, "r"+r)
		add(i, 4, "e"+r)
		add(i, 2, r)
		if i < 4 {
			add(i, 1, r[:1]+"l")
			add(i, 1, r[:1]+"h")
		} else {
			add(i, 1, r+"l")
		}
	}
	for i, r := range []string{"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"} {
		add(8+i, 8, r)
		add(8+i, 4, r+"d")
		add(8+i, 2, r+"w")
		add(8+i, 1, r+"b")
	}
	return all
}()

const rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi = 0, 1, 2, 3, 4, 5, 6, 7

var callerSaved = []int{rax, rcx, rdx, rsi, rdi, 8, 9, 10, 11}

// register reads an operand that is a whole or partial general register.
func register(arg string) (number, bytes int, ok bool) {
	if !strings.HasPrefix(arg, "%") {
		return 0, 0, false
	}
	r, ok := registers[arg[1:]]
	return r.number, r.bytes, ok
}
