package ptx

import (
	"fmt"
	"strings"
)

// matrices is how many matrices an ldmatrix or stmatrix moves.
func (i *inst) matrices() int {
	n := 0
	for _, p := range i.parts[1:] {
		switch p {
		case "x1", "x2", "x4":
			n = int(p[1] - '0')
		case "sync", "aligned", "m8n8", "trans", "shared", "shared::cta", "b16":
		default:
			i.refuse("matrices of 8 by 8 numbers of 16 bits are served")
		}
	}
	if n == 0 {
		i.refuse("it needs .x1, .x2 or .x4")
	}
	return n
}

func (i *inst) transposed() int {
	if i.has("trans") {
		return 1
	}
	return 0
}

func ldmatrix(i *inst) string {
	n, to := i.matrices(), i.list(0)
	if !i.count(2) || len(to) != n {
		return i.refuse(fmt.Sprintf("it fills %d registers", n))
	}
	code := fmt.Sprintf("simt::FourWords simt_v = simt_ldmatrix(%s, %d, %d, __builtin_LINE()); ", i.address(1, i.inShared()), n, i.transposed())
	for k, name := range to {
		code += i.putTo(name, "simt_v."+"xyzw"[k:k+1])
	}
	return code
}

func stmatrix(i *inst) string {
	n, from := i.matrices(), i.list(1)
	if !i.count(2) || len(from) != n {
		return i.refuse(fmt.Sprintf("it takes %d registers", n))
	}
	values := []string{"0u", "0u", "0u", "0u"}
	for k, name := range from {
		values[k] = asType(i.value(name), "b32")
	}
	return fmt.Sprintf("simt_stmatrix(%s, %d, %d, %s, __builtin_LINE());", i.address(0, i.inShared()), n, i.transposed(), strings.Join(values, ", "))
}

// product is one shape and type of mma.sync.
type product struct {
	call    string
	a, b, c int // registers
	kind    int // of integers
}

var products = map[string]product{
	"m16n8k16.f16.f16":   {"simt_multiply_64_half", 4, 2, 4, 0},
	"m16n8k8.f16.f16":    {"simt_multiply_32_half", 2, 1, 4, 0},
	"m16n8k16.bf16.bf16": {"simt_multiply_64_bfloat16", 4, 2, 4, 0},
	"m16n8k8.bf16.bf16":  {"simt_multiply_32_bfloat16", 2, 1, 4, 0},
	"m16n8k8.tf32.tf32":  {"simt_multiply_32_tf32", 4, 2, 4, 0},
	"m16n8k4.tf32.tf32":  {"simt_multiply_16_tf32", 2, 1, 4, 0},
}

func init() {
	for k, signs := range []string{"u8.u8", "s8.u8", "u8.s8", "s8.s8"} {
		products["m16n8k32."+signs] = product{"simt_integer_product", 4, 2, 4, k}
		products["m16n8k16."+signs] = product{"simt_integer_product", 2, 1, 4, k}
	}
}

// mma writes mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C.
func mma(i *inst) string {
	var shape string
	var kinds []string
	saturate := 0
	for _, p := range i.parts[1:] {
		switch {
		case p == "sync" || p == "aligned" || p == "row" || p == "col":
		case p == "satfinite":
			saturate = 4
		case strings.HasPrefix(p, "m16n8k"):
			shape = p
		default:
			kinds = append(kinds, p)
		}
	}
	served := "m16n8k16 of f16 and bf16, m16n8k8 of tf32, m16n8k32 of s8 and u8 are served"
	if len(kinds) != 4 || !i.count(4) {
		return i.refuse(served)
	}
	d, c := i.list(0), i.list(3)
	p, ok := products[shape+"."+kinds[1]+"."+kinds[2]]
	integers := p.call == "simt_integer_product"
	halves := kinds[0] == "f16" && kinds[3] == "f16" && kinds[1] == "f16"
	if !ok || integers && (kinds[0] != "s32" || kinds[3] != "s32") || !integers && !halves && (kinds[0] != "f32" || kinds[3] != "f32") {
		return i.refuse(served)
	}
	sums := p.c
	if halves {
		sums = 2
	}
	a, b := i.list(1), i.list(2)
	if len(d) != sums || len(c) != sums || len(a) != p.a || len(b) != p.b {
		return i.refuse(fmt.Sprintf("this one has %d, %d, %d and %d registers", sums, p.a, p.b, sums))
	}
	var args []string
	word := func(list []string, k int) string {
		if k < len(list) {
			return asType(i.value(list[k]), "b32")
		}
		return "0u"
	}
	for k := range 4 {
		args = append(args, word(a, k))
	}
	for k := range 2 {
		args = append(args, word(b, k))
	}
	for k := range 4 {
		switch {
		case integers:
			args = append(args, word(c, k))
		case halves:
			args = append(args, fmt.Sprintf("__half2float(simt::ptx::as<__half>((unsigned short)(%s >> %d)))", word(c, k/2), 16*(k%2)))
		default:
			args = append(args, asType(i.value(c[k]), "f32"))
		}
	}
	if integers {
		args = append(args, fmt.Sprint(p.kind|saturate))
	}
	code := fmt.Sprintf("auto simt_v = %s(%s, __builtin_LINE()); ", p.call, strings.Join(args, ", "))
	if halves {
		for k, pair := range []string{"xy", "zw"} {
			code += i.putTo(d[k], fmt.Sprintf("simt::ptx::pair(__half_as_ushort(__float2half(simt_v.%c)), __half_as_ushort(__float2half(simt_v.%c)))", pair[0], pair[1]))
		}
		return code
	}
	for k, name := range d {
		code += i.putTo(name, "simt_v."+"xyzw"[k:k+1])
	}
	return code
}

// shuffle is shfl.sync.MODE.b32 d|p, a, b, c, mask.
func shuffle(i *inst) string {
	modes := map[string]string{"up": "Up", "down": "Down", "bfly": "Bfly", "idx": "Idx"}
	if len(i.parts) < 3 || modes[i.parts[2]] == "" || i.parts[1] != "sync" || !i.count(5) {
		return i.refuse("shfl.sync has a mask")
	}
	to := strings.Split(i.arg(0), "|")
	code := fmt.Sprintf("bool simt_in; unsigned simt_v = simt::ptx::shfl(simt::ptx::%s, %s, (int)%s, %s, %s, simt_in); ",
		modes[i.parts[2]], i.as(1, "b32"), i.as(2, "b32"), i.as(3, "b32"), i.as(4, "b32")) + i.putTo(strings.TrimSpace(to[0]), "simt_v")
	if len(to) == 2 {
		code += i.putTo(strings.TrimSpace(to[1]), "simt_in")
	}
	return code
}

func vote(i *inst) string {
	if len(i.parts) < 4 || i.parts[1] != "sync" || !i.count(3) {
		return i.refuse("vote.sync has a mask")
	}
	p, mask := i.as(1, "pred"), i.as(2, "b32")
	switch i.parts[2] {
	case "ballot":
		return i.put("__ballot_sync(" + mask + ", " + p + ")")
	case "any":
		return i.put("(bool)__any_sync(" + mask + ", " + p + ")")
	case "all":
		return i.put("(bool)__all_sync(" + mask + ", " + p + ")")
	case "uni":
		return "unsigned simt_m = " + mask + ", simt_v = __ballot_sync(simt_m, " + p + "); " + i.put("(bool)(simt_v == 0 || simt_v == (simt_m & simt_alive()))")
	}
	return i.refuse("all, any, uni and ballot are served")
}

func match(i *inst) string {
	if len(i.parts) < 4 || !i.count(3) {
		return i.refuse("match.any.sync and match.all.sync are served")
	}
	v, mask := i.as(1, i.t()), i.as(2, "b32")
	if i.parts[1] == "any" {
		return i.put("__match_any_sync(" + mask + ", " + v + ")")
	}
	to := strings.Split(i.arg(0), "|")
	code := "int simt_in; unsigned simt_v = __match_all_sync(" + mask + ", " + v + ", &simt_in); " + i.putTo(strings.TrimSpace(to[0]), "simt_v")
	if len(to) == 2 {
		code += i.putTo(strings.TrimSpace(to[1]), "(bool)simt_in")
	}
	return code
}

func redux(i *inst) string {
	if len(i.parts) != 4 || i.parts[1] != "sync" || !i.count(3) {
		return i.refuse("redux.sync of 32-bit integers is served")
	}
	t := i.t()
	if t != "u32" && t != "s32" && t != "b32" {
		return i.refuse("redux.sync of 32-bit integers is served")
	}
	return i.put(fmt.Sprintf("__reduce_%s_sync(%s, %s)", i.parts[2], i.as(2, "b32"), i.as(1, t)))
}

// elect chooses the first lane of the mask.
func elect(i *inst) string {
	to := strings.Split(i.arg(0), "|")
	if len(to) != 2 || !i.count(2) {
		return i.refuse("elect.sync d|p, mask")
	}
	return "unsigned simt_v = (unsigned)__ffs((int)__ballot_sync(" + i.as(1, "b32") + ", 1)) - 1; " +
		i.putTo(strings.TrimSpace(to[0]), "simt_v") + i.putTo(strings.TrimSpace(to[1]), "(bool)(simt_lane() == simt_v)")
}
