package ptx

import (
	"fmt"
	"strings"
)

// families is every instruction that is served, by its name.
var families map[string]family

func init() {
	families = map[string]family{
		"movmatrix": {"movmatrix: .m8n8.trans.b16", moveMatrix},

		"mov":      {"mov of any type, pairs packed and unpacked", move},
		"cvta":     {"cvta, cvta.to: .shared, .global", convertAddress},
		"isspacep": {"isspacep: .shared, .shared::cluster, .global, .local", isSpace},
		"ld":       {"ld: .global, .shared, .shared::cluster, generic; .v2, .v4; cache hints; .volatile, .relaxed, .acquire", load},
		"ldu":      {"ldu", load},
		"st":       {"st: .global, .shared, .shared::cluster, generic; .v2, .v4; cache hints; .volatile, .relaxed, .release; st.async", store},
		"cp": {"cp.async: .ca 4, 8, 16 bytes, .cg 16; the bytes to take; .commit_group, .wait_group, .wait_all; .mbarrier.arrive, .noinc\n" +
			"- cp.async.bulk: to .shared::cluster with .mbarrier::complete_tx::bytes, from .global, also .multicast::cluster, or .shared::cta; to .global with .bulk_group; .commit_group, .wait_group, .read; .prefetch (without effect)\n" +
			"- cp.async.bulk.tensor: .1d to .5d, both ways, .tile, .multicast::cluster; .prefetch (without effect)", copyAsync},
		"prefetch": {"prefetch, prefetchu (without effect)", nothing}, "prefetchu": {"", nothing}, "discard": {"discard (without effect)", nothing},
		"applypriority": {"applypriority (without effect)", nothing},
		"createpolicy":  {"createpolicy (without effect)", func(i *inst) string { return i.put("0ull") }},
		"atom":          {"atom: add, min, max, and, or, xor, exch, cas, inc, dec", atomic},
		"red":           {"red: add, min, max, and, or, xor, inc, dec", atomic},

		"ldmatrix": {"ldmatrix: .m8n8.x1, .x2, .x4, .trans, of .b16, from .shared and generic addresses", ldmatrix},
		"stmatrix": {"stmatrix: .m8n8.x1, .x2, .x4, .trans, of .b16", stmatrix},
		"mma":      {"mma.sync: m16n8k16 and m16n8k8 of f16 and bf16, m16n8k8 and m16n8k4 of tf32, m16n8k32 and m16n8k16 of s8 and u8", mma},

		"add":   {"add: integers, f32 in four roundings, f64, f16, f16x2, bf16, bf16x2", arithmetic("simt::ptx::plus<%[1]s>(%[2]s, %[3]s)", "__fadd_%s", "__dadd_rn", "__hadd")},
		"sub":   {"sub: as add", arithmetic("simt::ptx::minus<%[1]s>(%[2]s, %[3]s)", "__fsub_%s", "__dsub_rn", "__hsub")},
		"mul":   {"mul: .lo, .hi, .wide of integers; floats as add", multiply},
		"mad":   {"mad: .lo, .hi, .wide of integers; floats as fma", multiply},
		"fma":   {"fma: f32 in four roundings, f64, f16, f16x2, bf16, bf16x2", arithmetic("", "__fmaf_%s", "__fma_rn", "__hfma")},
		"div":   {"div: integers, f32 (.approx, .full and the roundings), f64", divide},
		"rem":   {"rem: integers", arithmetic("%[2]s %% %[3]s", "", "", "")},
		"min":   {"min: all types", arithmetic("simt::ptx::smaller<%[1]s>(%[2]s, %[3]s)", "fminf", "fmin", "__hmin")},
		"max":   {"max: all types", arithmetic("simt::ptx::larger<%[1]s>(%[2]s, %[3]s)", "fmaxf", "fmax", "__hmax")},
		"abs":   {"abs: all types", arithmetic("(%[2]s < 0 ? simt::ptx::minus<%[1]s>(0, %[2]s) : %[2]s)", "fabsf", "fabs", "__habs")},
		"neg":   {"neg: all types", arithmetic("simt::ptx::minus<%[1]s>(0, %[2]s)", "-", "-", "__hneg")},
		"rcp":   {"rcp: f32 (.approx and the roundings)", arithmetic("", "__frcp_%s", "__drcp_rn", "")},
		"sqrt":  {"sqrt: f32 (.approx and the roundings), f64", arithmetic("", "__fsqrt_%s", "__dsqrt_rn", "")},
		"rsqrt": {"rsqrt.approx: f32", unary("rsqrtf")},
		"ex2":   {"ex2.approx: f32, f16, f16x2, bf16, bf16x2", unary("exp2f")},
		"lg2":   {"lg2.approx: f32", unary("log2f")},
		"sin":   {"sin.approx: f32", unary("sinf")},
		"cos":   {"cos.approx: f32", unary("cosf")},
		"tanh":  {"tanh.approx: f32, f16, f16x2, bf16, bf16x2", unary("tanhf")},

		"and": {"and, or, xor, not: .b16, .b32, .b64, .pred", logic("&", "&&")}, "or": {"", logic("|", "||")}, "xor": {"", logic("^", "!=")},
		"not": {"", func(i *inst) string {
			return i.simple(map[bool]string{true: "(!%[2]s)", false: "(%[1]s)~%[2]s"}[i.t() == "pred"])
		}},
		"shl": {"shl, shr", shift("simt::ptx::shiftLeft")}, "shr": {"", shift("simt::ptx::shiftRight")},
		"shf":  {"shf.l, shf.r: .wrap, .clamp", funnel},
		"popc": {"popc, clz, brev", bitsOf("__popc", "__popcll")}, "clz": {"", bitsOf("__clz", "__clzll")}, "brev": {"", bitsOf("__brev", "__brevll")},
		"bfe": {"bfe: .u32, .s32, .u64, .s64", func(i *inst) string {
			return i.put(fmt.Sprintf("simt::ptx::extract<%s>(%s, %s, %s)", types[i.t()], i.as(1, i.t()), i.as(2, "u32"), i.as(3, "u32")))
		}},
		"bfi": {"bfi: .b32, .b64", func(i *inst) string {
			return i.put(fmt.Sprintf("simt::ptx::insert<%s>(%s, %s, %s, %s)", types[i.t()], i.as(1, i.t()), i.as(2, i.t()), i.as(3, "u32"), i.as(4, "u32")))
		}},
		"lop3": {"lop3.b32", func(i *inst) string {
			i.count(5)
			i.only()
			return i.put(fmt.Sprintf("simt::ptx::logic3(%s, %s, %s, %s)", i.as(1, "b32"), i.as(2, "b32"), i.as(3, "b32"), i.as(4, "b32")))
		}},
		"prmt": {"prmt.b32, without a mode", func(i *inst) string {
			i.count(4)
			i.only()
			return i.put(fmt.Sprintf("__byte_perm(%s, %s, %s)", i.as(1, "b32"), i.as(2, "b32"), i.as(3, "b32")))
		}},
		"dp4a": {"dp4a: .u32.u32, .s32.s32", func(i *inst) string {
			if len(i.parts) != 3 || i.parts[1] != i.parts[2] {
				return i.refuse("both factors of one sign only")
			}
			return i.put(fmt.Sprintf("__dp4a(%s, %s, %s)", i.as(1, i.t()), i.as(2, i.t()), i.as(3, i.t())))
		}},
		"vabsdiff4": {"vabsdiff4: .u32.u32.u32, also .add", differences},
		"addc":      {"addc, subc, madc, and add, sub, mad with .cc: 32 and 64 bits, within one asm", withCarry}, "subc": {"", withCarry}, "madc": {"", withCarry},
		"bfind":    {"bfind: .u32, .s32, .u64, .s64, .shiftamt", findBit},
		"sad":      {"sad: .u32, .s32", of32("%s(%s, %s, %s)", map[string]string{"u32": "__usad", "s32": "__sad"})},
		"mul24":    {"mul24.lo, mad24.lo: .u32, .s32", of32("%s(%s, %s)", map[string]string{"u32": "__umul24", "s32": "__mul24"})},
		"mad24":    {"", of32("(unsigned)%s(%s, %s) + (unsigned)%s", map[string]string{"u32": "__umul24", "s32": "__mul24"})},
		"slct":     {"slct: a type, and .s32 or .f32", chooseBySign},
		"cnot":     {"cnot: .b16, .b32, .b64", func(i *inst) string { return i.simple("(%[1]s)(%[2]s == 0)") }},
		"copysign": {"copysign: f32, f64", copySign},
		"testp":    {"testp: .finite, .infinite, .number, .notanumber, .normal, .subnormal of f32, f64", testNumber},
		"fns": {"fns.b32", func(i *inst) string {
			return i.put(fmt.Sprintf("__fns(%s, %s, %s)", i.as(1, "b32"), i.as(2, "b32"), i.as(3, "s32")))
		}},
		"exit": {"exit", func(i *inst) string { return "simt_exit();" }},
		"cvt":  {"cvt: between integers, f16, bf16, f32, f64; .f16x2 and .bf16x2 of two f32; .rna.tf32; .sat, .relu; pairs of e4m3 and e5m2, of f32 and f16x2, and back; .pack.sat", convert},
		"setp": {"setp: all comparisons, with .and, .or, .xor", setp},
		"selp": {"selp", func(i *inst) string {
			i.count(4)
			return i.put(fmt.Sprintf("(%s ? %s : %s)", i.as(3, "pred"), i.as(1, i.t()), i.as(2, i.t())))
		}},

		"shfl":       {"shfl.sync: .up, .down, .bfly, .idx", shuffle},
		"vote":       {"vote.sync: .all, .any, .uni, .ballot", vote},
		"match":      {"match.any.sync, match.all.sync", match},
		"redux":      {"redux.sync: add, min, max, and, or, xor", redux},
		"activemask": {"activemask", func(i *inst) string { return i.put("__activemask()") }},
		"elect":      {"elect.sync", elect},
		"bar":        {"bar.sync, bar.arrive, barrier.sync, barrier.arrive of barriers 0 to 15, with a count; bar.warp.sync, bar.red.popc, .and, .or of barrier 0; barrier.cluster.arrive, .relaxed, .wait", barrier}, "barrier": {"", barrier},
		"membar": {"membar, fence; fence.proxy.async, fence.mbarrier_init", fence}, "fence": {"", fence},
		"mbarrier":       {"mbarrier: .init, .inval, .arrive, .arrive.expect_tx, .arrive_drop, .expect_tx, .complete_tx, .try_wait and .test_wait by state and by .parity", mbarrier},
		"wgmma":          {"wgmma: .fence, .commit_group, .wait_group; .mma_async of f16, bf16, tf32, e4m3, e5m2, s8, u8 with all columns and swizzles, a from registers or shared memory", wgmma},
		"setmaxnreg":     {"setmaxnreg (checked, without effect)", setRegisters},
		"griddepcontrol": {"griddepcontrol (without effect)", nothing},
		"mapa":           {"mapa, getctarank: generic addresses and .shared::cluster", mapAddress},
		"getctarank":     {"", rankOf},
		"bra":            {"bra to labels of the same asm", jump},
		"nanosleep":      {"nanosleep, trap", func(i *inst) string { return "__nanosleep(" + i.as(0, "u32") + ");" }},
		"trap":           {"", func(i *inst) string { return "__trap();" }},
		"pmevent":        {"", nothing},
	}
}

func nothing(i *inst) string { return ";" }

func move(i *inst) string {
	if !i.count(2) {
		return ""
	}
	t := i.t()
	to, from := i.list(0), i.list(1)
	switch {
	case len(to) == 1 && len(from) == 1:
		return i.put(i.as(1, t))
	case len(to) == 1 && len(from) == 2: // packed, the first in the lower half
		half := map[string]string{"b32": "b16", "u32": "b16", "s32": "b16", "f32": "b16", "b64": "b32", "u64": "b32", "s64": "b32", "f64": "b32"}[t]
		if half == "" {
			return i.refuse("it packs two into .b32 or .b64")
		}
		whole := types["b"+t[1:]]
		return i.put(fmt.Sprintf("(%s)((%s)%s | (%s)%s << %s)", whole, whole, asType(i.value(from[0]), half), whole, asType(i.value(from[1]), half), half[1:]))
	case len(to) == 2 && len(from) == 1:
		half := map[string]string{"32": "b16", "64": "b32"}[t[1:]]
		if half == "" {
			return i.refuse("it unpacks .b32 or .b64 into two")
		}
		v := i.as(1, "b"+t[1:])
		code := fmt.Sprintf("auto simt_v = %s; ", v)
		for k, name := range to {
			code += i.putTo(name, fmt.Sprintf("(%s)(simt_v >> %d)", types[half], k*map[string]int{"b16": 16, "b32": 32}[half]))
		}
		return code
	}
	return i.refuse("it packs and unpacks two")
}

func convertAddress(i *inst) string {
	if !i.count(2) {
		return ""
	}
	a := i.as(1, "u64")
	switch {
	case i.shared() && i.has("to"):
		return i.put("(unsigned long long)__cvta_generic_to_shared((void *)" + a + ")")
	case i.shared():
		return i.put("(unsigned long long)__cvta_shared_to_generic((size_t)" + a + ")")
	case i.has("global"):
		return i.put(a)
	}
	return i.refuse("only shared and global memory are served")
}

func isSpace(i *inst) string {
	if i.has("shared::cluster") {
		return i.put("(bool)__isClusterShared((const void *)" + i.as(1, "u64") + ")")
	}
	for _, space := range []string{"Shared", "Global", "Local"} {
		if i.has(strings.ToLower(space)) {
			return i.put("(bool)__is" + space + "((const void *)" + i.as(1, "u64") + ")")
		}
	}
	return i.refuse("shared, global and local are served")
}

func divide(i *inst) string {
	t := i.t()
	if t == "f32" && (i.has("approx") || i.has("full")) {
		return arithmetic("", "__fdividef", "", "")(i)
	}
	return arithmetic("(%[1]s)(%[2]s / %[3]s)", "__fdiv_%s", "__ddiv_rn", "")(i)
}

func logic(sign, onPredicates string) func(i *inst) string {
	return func(i *inst) string {
		i.only()
		if i.t() == "pred" {
			return i.simple("(bool)(%[2]s " + onPredicates + " %[3]s)")
		}
		return i.simple("(%[1]s)(%[2]s " + sign + " %[3]s)")
	}
}

func shift(function string) func(i *inst) string {
	return func(i *inst) string {
		if !i.count(3) {
			return ""
		}
		return i.put(fmt.Sprintf("%s<%s>(%s, %s)", function, types[i.t()], i.as(1, i.t()), i.as(2, "u32")))
	}
}

func funnel(i *inst) string {
	if !i.count(4) {
		return ""
	}
	if !i.has("l") && !i.has("r") {
		return i.refuse("it is shf.l or shf.r")
	}
	name := "__funnelshift_" + i.parts[1]
	if i.has("clamp") {
		name += "c"
	}
	return i.put(fmt.Sprintf("%s(%s, %s, %s)", name, i.as(1, "b32"), i.as(2, "b32"), i.as(3, "u32")))
}

func bitsOf(narrow, wide string) func(i *inst) string {
	return func(i *inst) string {
		i.only()
		switch i.t() {
		case "b32":
			return i.put("(unsigned)" + narrow + "(" + i.as(1, "b32") + ")")
		case "b64":
			if narrow == "__brev" {
				return i.put(wide + "(" + i.as(1, "b64") + ")")
			}
			return i.put("(unsigned)" + wide + "(" + i.as(1, "b64") + ")")
		}
		return i.refuse(".b32 and .b64 are served")
	}
}
