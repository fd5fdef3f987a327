package ptx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// inst is one instruction on its way to C++.
type inst struct {
	scope *scope
	op    string
	parts []string // of op, between the dots
	args  []string
	err   error
}

// family translates the instructions of one name.
type family struct {
	forms string // what is served, for the README
	write func(i *inst) string
}

// types of PTX → C++.
var types = map[string]string{
	"b8": "unsigned char", "u8": "unsigned char", "s8": "signed char",
	"b16": "unsigned short", "u16": "unsigned short", "s16": "short", "b32": "unsigned", "u32": "unsigned", "s32": "int",
	"b64": "unsigned long long", "u64": "unsigned long long", "s64": "long long", "f32": "float", "f64": "double",
	"f16": "__half", "bf16": "__nv_bfloat16", "pred": "bool", "f16x2": "unsigned", "bf16x2": "unsigned", "b128": "float4",
}

// ofPair is the number of which a packed type holds two.
var ofPair = map[string]string{"f16x2": "__half", "bf16x2": "__nv_bfloat16"}

func (i *inst) translate() (string, error) {
	f, ok := families[i.parts[0]]
	if i.has("cc") && (i.parts[0] == "add" || i.parts[0] == "sub" || i.parts[0] == "mad") {
		code := withCarry(i)
		return code, i.err
	}
	if !ok {
		i.refuse(instead(i.op))
		return "", i.err
	}
	if n := takes[i.parts[0]]; n > 0 && !i.count(n) {
		return "", i.err
	}
	code := f.write(i)
	return code, i.err
}

// takes is how many operands the instructions have that always have the same.
var takes = map[string]int{"cvta": 2, "isspacep": 2, "add": 3, "sub": 3, "fma": 4, "div": 3, "rem": 3, "min": 3, "max": 3, "abs": 2, "neg": 2,
	"rcp": 2, "sqrt": 2, "rsqrt": 2, "ex2": 2, "lg2": 2, "sin": 2, "cos": 2, "tanh": 2, "and": 3, "or": 3, "xor": 3, "not": 2,
	"shl": 3, "shr": 3, "shf": 4, "popc": 2, "clz": 2, "brev": 2, "bfe": 4, "bfi": 5, "lop3": 5, "prmt": 4, "dp4a": 4, "selp": 4,
	"bfind": 2, "sad": 4, "slct": 4, "cnot": 2, "mul24": 3, "mad24": 4, "testp": 2, "copysign": 3, "fns": 4, "dp2a": 4, "vabsdiff4": 4,
	"mul": 3, "mad": 4, "mov": 2, "activemask": 1, "nanosleep": 1}

// instead is what to use for an instruction that is missing altogether.
func instead(op string) string {
	for _, r := range []struct{ pattern, use string }{
		{`^cp\.reduce`, "use red.global.add, or copy and add"},
		{`^(tensormap|multimem)`, "make tensor maps in Go, before the launch"},
		{`^wmma`, "use nvcuda::wmma of mma.h, or mma.sync"},
		{`^(tex|tld4|suld|sust|sured)`, "read global memory"},
		{`^(brx|call|ret)\b`, "write the branch in C++, around the asm"},
		{`^v(add|sub|abs|min|max)`, "use bytes or halves by themselves"},
	} {
		if regexp.MustCompile(r.pattern).MatchString(op) {
			return r.use
		}
	}
	return "write it in CUDA C++"
}

// refuse says that this form of an instruction is missing.
func (i *inst) refuse(use string) string {
	if i.err == nil && needsBlackwell(i.op) {
		use = "it needs Blackwell, and this is a Hopper: use wgmma, mma.sync or plain CUDA C++"
	}
	if i.err == nil {
		i.err = lacking("instruction "+i.op, use)
	}
	return ""
}

// has tells whether a modifier is there.
func (i *inst) has(part string) bool { return slices.Contains(i.parts[1:], part) }

// only refuses modifiers that are neither types nor on a list.
func (i *inst) only(allowed ...string) {
	for _, p := range i.parts[1:] {
		if types[p] == "" && !slices.Contains(allowed, p) {
			i.refuse("." + p + " is not served")
		}
	}
}

// t is the last type of the instruction, as PTX names it.
func (i *inst) t() string {
	for n := len(i.parts) - 1; n > 0; n-- {
		if types[i.parts[n]] != "" {
			return i.parts[n]
		}
	}
	i.refuse("it needs a type")
	return "b32"
}

// count requires a number of operands.
func (i *inst) count(n ...int) bool {
	if !slices.Contains(n, len(i.args)) {
		if i.err == nil {
			i.err = fmt.Errorf("inline PTX: %s takes %v operands, not %d", i.op, n[0], len(i.args))
		}
		return false
	}
	return true
}

// raw is an operand's C++ as it is.
func (i *inst) raw(n int) string {
	if n >= len(i.args) {
		i.count(n + 1)
		return "0"
	}
	return i.value(i.args[n])
}

func (i *inst) value(name string) string {
	v, err := i.scope.value(name)
	if err != nil && i.err == nil {
		i.err = err
	}
	return v
}

// as is an operand read as a type.
func (i *inst) as(n int, t string) string {
	if strings.HasPrefix(strings.TrimSpace(i.arg(n)), "!") {
		return "(!" + i.value(strings.TrimSpace(i.arg(n))[1:]) + ")"
	}
	return asType(i.raw(n), t)
}

func (i *inst) arg(n int) string {
	if n < len(i.args) {
		return i.args[n]
	}
	return ""
}

func asType(v, t string) string {
	if t == "pred" {
		return "simt::ptx::isTrue(" + v + ")"
	}
	return "simt::ptx::as<" + types[t] + ">(" + v + ")"
}

// put writes the first operand.
func (i *inst) put(value string) string {
	return i.putTo(i.arg(0), value)
}

func (i *inst) putTo(name, value string) string {
	if name == "_" {
		return "(void)(" + value + ");"
	}
	return "simt::ptx::put(" + i.value(name) + ", " + value + ");"
}

// list is the registers of {a, b, c, d}, or the one that stands alone.
func (i *inst) list(n int) []string {
	a := strings.TrimSpace(i.arg(n))
	if !strings.HasPrefix(a, "{") {
		return []string{a}
	}
	a = strings.TrimSuffix(strings.TrimPrefix(a, "{"), "}")
	var names []string
	for _, name := range strings.Split(a, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

var addressForm = regexp.MustCompile(`^\[\s*(.*?)\s*(?:\+\s*(-?\w+))?\s*\]$`)

// address is a pointer, to shared memory or any.
func (i *inst) address(n int, shared bool) string {
	m := addressForm.FindStringSubmatch(strings.TrimSpace(i.arg(n)))
	if m == nil {
		if i.err == nil {
			i.err = fmt.Errorf("inline PTX: %s: operand %d is no [address]", i.op, n+1)
		}
		return ""
	}
	space := "generic"
	if shared {
		space = "shared"
	}
	a := "simt::ptx::" + space + "(" + i.value(m[1]) + ")"
	if m[2] != "" {
		a += " + " + i.value(m[2])
	}
	return a
}

// addressNumber is the raw address, as a number.
func (i *inst) addressNumber(n int) string {
	m := addressForm.FindStringSubmatch(strings.TrimSpace(i.arg(n)))
	if m == nil {
		i.address(n, false)
		return ""
	}
	if m[2] != "" {
		return i.value(m[1]) + " + " + i.value(m[2])
	}
	return i.value(m[1])
}

// shared tells whether a state space is that of the block.
func (i *inst) shared() bool { return i.has("shared") || i.has("shared::cta") }
