package ptx

import (
	"fmt"
	"strings"
)

var roundings = map[string]string{"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}

func (i *inst) rounding() string {
	for _, p := range i.parts[1:] {
		if r := roundings[p]; r != "" {
			return r
		}
	}
	return "rn"
}

func isFloat(t string) bool { return t == "f32" || t == "f64" || t == "f16" || t == "bf16" }

// simple writes an instruction by a format: %[1]s is the type, %[2]s the first source.
func (i *inst) simple(form string) string {
	t := i.t()
	args := []any{types[t]}
	for n := 1; n < len(i.args); n++ {
		args = append(args, i.as(n, t))
	}
	return i.put(fmt.Sprintf(form, args...))
}

// arithmetic is a family on all kinds of numbers: a form for integers, and CUDA's names for floats
// (with %s for the rounding), doubles and halves.
func arithmetic(integers, floats, doubles, halves string) func(i *inst) string {
	return func(i *inst) string {
		t := i.t()
		n := len(i.args) - 1
		switch {
		case t == "f16" || t == "bf16" || ofPair[t] != "":
			i.only("rn", "ftz", "sat", "relu", "NaN")
			if halves == "" {
				return i.refuse("convert to f32 first")
			}
			name := halves
			if i.has("NaN") {
				name += "_nan"
			}
			call := func(args string) string {
				v := name + "(" + args + ")"
				if i.has("sat") {
					v = "simt_saturate(" + v + ")"
				}
				return v
			}
			if i.has("relu") {
				return i.refuse("take the larger of the result and 0")
			}
			if h := ofPair[t]; h != "" {
				args := make([]string, n)
				for k := range args {
					args[k] = asType(i.raw(k+1), "b32")
				}
				return i.put("simt::ptx::each<" + h + ">([](auto... x) __attribute__((always_inline)) { return " + call("x...") + "; }, " + strings.Join(args, ", ") + ")")
			}
			return i.put(call(i.operands(t)))
		case t == "f32":
			i.only("rn", "rz", "rm", "rp", "ftz", "sat", "approx", "full", "NaN")
			if i.has("NaN") {
				return i.refuse("fmaxf and isnan do it in CUDA C++")
			}
			name := floats
			if strings.Contains(name, "%s") {
				name = fmt.Sprintf(name, i.rounding())
			}
			return i.put(i.finished(name + "(" + i.operands(t) + ")"))
		case t == "f64":
			i.only("rn")
			return i.put(doubles + "(" + i.operands(t) + ")")
		}
		i.only("lo", "sat")
		if i.has("sat") || integers == "" {
			return i.refuse("compare and select")
		}
		return i.simple(integers)
	}
}

// finished flushes and saturates a float's result, as the modifiers ask.
func (i *inst) finished(v string) string {
	if i.has("ftz") {
		v = "simt::ptx::flushed(" + v + ")"
	}
	if i.has("sat") {
		v = "__saturatef(" + v + ")"
	}
	return v
}

// operands are all but the first, of one type.
func (i *inst) operands(t string) string {
	var all []string
	for n := 1; n < len(i.args); n++ {
		v := i.as(n, t)
		if t == "f32" && i.has("ftz") {
			v = "simt::ptx::flushed(" + v + ")"
		}
		all = append(all, v)
	}
	return strings.Join(all, ", ")
}

func unary(floats string) func(i *inst) string {
	return func(i *inst) string {
		if !i.count(2) {
			return ""
		}
		if t := i.t(); t != "f32" {
			if t == "f16" || t == "bf16" {
				return i.put(fmt.Sprintf("%s(%s((float)%s))", types[t], floats, i.as(1, t)))
			}
			if h := ofPair[t]; h != "" {
				return i.put(fmt.Sprintf("simt::ptx::each<%s>([](auto x) __attribute__((always_inline)) { return %s(%s((float)x)); }, %s)", h, h, floats, asType(i.raw(1), "b32")))
			}
			return i.refuse("use CUDA's function of that name")
		}
		i.only("approx", "rn", "ftz")
		return i.put(i.finished(floats + "(" + i.operands("f32") + ")"))
	}
}

// multiply is mul and mad: the lower half of a product, the upper, or all of it.
func multiply(i *inst) string {
	t := i.t()
	mad := i.parts[0] == "mad"
	if isFloat(t) || ofPair[t] != "" {
		if mad {
			return families["fma"].write(i)
		}
		return arithmetic("", "__fmul_%s", "__dmul_rn", "__hmul")(i)
	}
	if n := 3; mad && !i.count(4) || !mad && !i.count(n) {
		return ""
	}
	i.only("lo", "hi", "wide")
	a, b := i.as(1, t), i.as(2, t)
	sumType := types[t]
	var v string
	switch {
	case i.has("wide"):
		v = fmt.Sprintf("simt::ptx::wide<%s>(%s, %s)", types[t], a, b)
		sumType = map[string]string{"s16": "int", "u16": "unsigned", "s32": "long long", "u32": "unsigned long long"}[t]
	case i.has("hi"):
		v = fmt.Sprintf("simt::ptx::high<%s>(%s, %s)", types[t], a, b)
	default:
		v = fmt.Sprintf("simt::ptx::times<%s>(%s, %s)", types[t], a, b)
	}
	if mad {
		v = fmt.Sprintf("simt::ptx::plus<%s>(%s, simt::ptx::as<%s>(%s))", sumType, v, sumType, i.raw(3))
	}
	return i.put(v)
}

// setp compares: p|q = a op b, joined with a third predicate if there is one.
func setp(i *inst) string {
	if len(i.parts) < 3 || !i.count(3, 4) {
		return i.refuse("it needs a comparison and a type")
	}
	t, cmp := i.t(), i.parts[1]
	a, b := i.as(1, t), i.as(2, t)
	if h := ofPair[t]; h != "" {
		return i.refuse("compare the halves one by one")
	}
	signs := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
	sign, unordered := signs[cmp], false
	if sign == "" && strings.HasSuffix(cmp, "u") {
		sign, unordered = signs[cmp[:len(cmp)-1]], true
	}
	var v string
	switch {
	case cmp == "num" || cmp == "nan":
		v = fmt.Sprintf("(%ssimt::ptx::unordered(%s, %s))", map[string]string{"num": "!", "nan": ""}[cmp], a, b)
	case sign == "":
		return i.refuse("its comparison is not served")
	default:
		v = fmt.Sprintf("(%s %s %s)", a, sign, b)
		if isFloat(t) && sign == "!=" && !unordered {
			v = fmt.Sprintf("(%s && !simt::ptx::unordered(%s, %s))", v, a, b)
		} else if unordered && sign != "!=" {
			v = fmt.Sprintf("(%s || simt::ptx::unordered(%s, %s))", v, a, b)
		}
	}
	join := map[string]string{"and": "&&", "or": "||", "xor": "!="}[i.parts[2]]
	both := strings.Split(i.arg(0), "|")
	third := "true"
	if join != "" {
		third = i.as(3, "pred")
	} else {
		join = "&&"
	}
	code := fmt.Sprintf("bool simt_c = %s, simt_d = %s; ", v, third) + i.putTo(strings.TrimSpace(both[0]), fmt.Sprintf("(bool)(simt_c %s simt_d)", join))
	if len(both) == 2 {
		code += i.putTo(strings.TrimSpace(both[1]), fmt.Sprintf("(bool)(!simt_c %s simt_d)", join))
	}
	return code
}

// convert is cvt: from the second type to the first.
func convert(i *inst) string {
	switch {
	case i.tinyPair() != "":
		return convertTiny(i)
	case i.has("pack"):
		return convertPacked(i)
	}
	var kinds, rest []string
	for _, p := range i.parts[1:] {
		if types[p] != "" || p == "tf32" {
			kinds = append(kinds, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(kinds) != 2 {
		return i.refuse("its types are not served")
	}
	to, from, direction := kinds[0], kinds[1], "simt::Nearest"
	if !isFloat(to) && isFloat(from) {
		direction = "simt::TowardZero"
	}
	saturate, relu := "false", false
	for _, p := range rest {
		switch p {
		case "rn", "rni", "rna":
			direction = "simt::Nearest"
		case "rz", "rzi":
			direction = "simt::TowardZero"
		case "rm", "rmi":
			direction = "simt::Downward"
		case "rp", "rpi":
			direction = "simt::Upward"
		case "sat":
			saturate = "true"
		case "relu":
			relu = true
		case "ftz":
		default:
			return i.refuse("." + p + " is not served")
		}
	}
	if to == "tf32" {
		return i.put("to_tf32(" + i.as(1, "f32") + ")")
	}
	one := func(n int, h string) string {
		v := i.as(n, from)
		if relu {
			v = "simt::ptx::positive(" + v + ")"
		}
		return "simt::ptx::converted<" + h + ">(" + v + ", " + direction + ", " + saturate + ")"
	}
	if h := ofPair[to]; h != "" { // the first source becomes the upper half
		if !i.count(3) || from != "f32" {
			return i.refuse("it takes two of f32")
		}
		return i.put(fmt.Sprintf("simt::ptx::pair(simt::ptx::as<unsigned short>(%s), simt::ptx::as<unsigned short>(%s))", one(2, h), one(1, h)))
	}
	if !i.count(2) {
		return ""
	}
	whole := isFloat(to) && isFloat(from) && strings.HasSuffix(strings.Join(rest, "."), "i")
	if whole { // to a whole number, still a float
		return i.put(fmt.Sprintf("(%s)simt::integral((double)%s, %s)", types[to], i.as(1, from), direction))
	}
	if to == "f32" && i.has("ftz") {
		return i.put("simt::ptx::flushed(" + one(1, types[to]) + ")")
	}
	return i.put(one(1, types[to]))
}
