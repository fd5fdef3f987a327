package ptx

import (
	"fmt"
	"regexp"
	"strings"
)

// setsCarry is text that has the carry flag: a variable of the asm's own.
var setsCarry = regexp.MustCompile(`\.cc\b`)

// withCarry is add, sub and mad with .cc, and addc, subc and madc: the flag goes from one to
// the next.
func withCarry(i *inst) string {
	name, adds := strings.TrimSuffix(i.parts[0], "c"), strings.HasSuffix(i.parts[0], "c")
	i.only("cc", "lo", "hi")
	t := i.t()
	switch t {
	case "u32", "s32", "u64", "s64":
	default:
		return i.refuse("integers of 32 and 64 bits have a carry")
	}
	if name == "mad" && !i.count(4) || name != "mad" && !i.count(3) {
		return ""
	}
	if adds && !i.scope.carried {
		return i.refuse("the carry lasts within one asm: put the whole sum into it")
	}
	if i.has("cc") {
		i.scope.carried = true
	}
	u := "u" + t[1:]
	a, b := i.as(1, u), i.as(2, u)
	if name == "mad" {
		half := "times"
		if i.has("hi") {
			half = "high"
		}
		a, b = fmt.Sprintf("(%s)simt::ptx::%s<%s>(%s, %s)", types[u], half, types[t], i.as(1, t), i.as(2, t)), i.as(3, u)
	}
	carry := "simt_cc"
	if !adds {
		carry = "false"
	}
	way := "addCarry"
	if name == "sub" {
		way = "subtractCarry"
	}
	out := "simt_cc"
	if !i.has("cc") {
		out = "simt_lost"
	}
	return fmt.Sprintf("bool simt_lost; (void)simt_lost; auto simt_v = simt::ptx::%s<%s>(%s, %s, %s, %s); ", way, types[u], a, b, carry, out) + i.put("simt_v")
}
