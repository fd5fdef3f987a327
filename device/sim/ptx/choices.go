package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// of32 is a family on words: CUDA's function for each type, in a format.
func of32(form string, names map[string]string) func(i *inst) string {
	return func(i *inst) string {
		i.only("lo")
		t := i.t()
		if names[t] == "" {
			return i.refuse(".u32 and .s32 are served")
		}
		args := []any{names[t]}
		for n := 1; n < len(i.args); n++ {
			args = append(args, i.as(n, t))
		}
		return i.put(fmt.Sprintf(form, args...))
	}
}

// findBit is the place of the highest bit that is not the sign's, or how far it is from the top.
func findBit(i *inst) string {
	i.only("shiftamt")
	t := i.t()
	if !slices.Contains([]string{"u32", "s32", "u64", "s64"}, t) {
		return i.refuse("32 and 64 bits are served")
	}
	return i.put(fmt.Sprintf("simt::ptx::highest<%s>(%s, %v)", types[t], i.as(1, t), i.has("shiftamt")))
}

// chooseBySign is slct: the first source if the third is not negative.
func chooseBySign(i *inst) string {
	i.only("ftz")
	if len(i.parts) < 3 {
		return i.refuse("it needs two types")
	}
	by := i.parts[len(i.parts)-1]
	t := i.parts[len(i.parts)-2]
	if types[t] == "" || by != "s32" && by != "f32" {
		return i.refuse("it chooses by .s32 or .f32")
	}
	return i.put(fmt.Sprintf("(%s >= 0 ? %s : %s)", i.as(3, by), i.as(1, t), i.as(2, t)))
}

// copySign gives the second source the first one's sign.
func copySign(i *inst) string {
	i.only()
	switch t := i.t(); t {
	case "f32":
		return i.put(fmt.Sprintf("copysignf(%s, %s)", i.as(2, t), i.as(1, t)))
	case "f64":
		return i.put(fmt.Sprintf("copysign(%s, %s)", i.as(2, t), i.as(1, t)))
	}
	return i.refuse("f32 and f64 are served")
}

// testNumber asks what kind of number it is.
func testNumber(i *inst) string {
	questions := map[string]string{"finite": "__builtin_isfinite(%s)", "infinite": "__builtin_isinf_sign(%s) != 0", "number": "!__builtin_isnan(%s)",
		"notanumber": "__builtin_isnan(%s)", "normal": "__builtin_isnormal(%s)", "subnormal": "simt::ptx::isSubnormal(%s)"}
	t := i.t()
	if len(i.parts) != 3 || questions[i.parts[1]] == "" || t != "f32" && t != "f64" {
		return i.refuse("finite, infinite, number, notanumber, normal, subnormal of f32 and f64 are served")
	}
	return i.put("(bool)(" + fmt.Sprintf(questions[i.parts[1]], i.as(1, t)) + ")")
}

// differences are those of four unsigned bytes each, or their sum and the last operand.
func differences(i *inst) string {
	switch form := strings.Join(i.parts[1:], "."); form {
	case "u32.u32.u32":
		return i.put(fmt.Sprintf("__vabsdiffu4(%s, %s)", i.as(1, "u32"), i.as(2, "u32")))
	case "u32.u32.u32.add":
		return i.put(fmt.Sprintf("__vsadu4(%s, %s) + %s", i.as(1, "u32"), i.as(2, "u32"), i.as(3, "u32")))
	}
	return i.refuse("unsigned bytes, plain or with .add, are served")
}
