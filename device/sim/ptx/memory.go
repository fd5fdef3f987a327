package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// accessParts splits the modifiers of ld and st: the vector's length, and how the compiler
// has to treat it.
func (i *inst) accessParts() (n int, special string) {
	n = 1
	for _, p := range i.parts[1:] {
		switch {
		case p == "v2" || p == "v4":
			n = int(p[1] - '0')
		case p == "volatile" || p == "relaxed" || p == "acquire" || p == "release" || p == "mmio":
			special = p
		case p == "param" || p == "const":
			i.refuse("only global and shared memory are served")
		case types[p] != "" || strings.HasPrefix(p, "L1::") || strings.HasPrefix(p, "L2::") || p == "unified" || p == "":
		case p == "global" || p == "shared" || p == "shared::cta" || p == "shared::cluster" || p == "local" || p == "weak" || p == "nc" ||
			p == "ca" || p == "cg" || p == "cs" || p == "lu" || p == "cv" || p == "wb" || p == "wt" ||
			p == "cta" || p == "gpu" || p == "sys" || p == "cluster":
		default:
			i.refuse("." + p + " is not served")
		}
	}
	return n, special
}

func specialName(special string) string {
	switch special {
	case "":
		return ""
	case "volatile", "mmio":
		return "Volatile"
	}
	return "Strong"
}

func load(i *inst) string {
	if !i.count(2, 3) { // the third is a cache policy
		return ""
	}
	n, special := i.accessParts()
	t, to := types[i.t()], i.list(0)
	if len(to) != n {
		return i.refuse(fmt.Sprintf("its vector has %d registers, not %d", n, len(to)))
	}
	code := fmt.Sprintf("auto simt_v = simt::ptx::load%s<%s, %d>(%s); ", specialName(special), t, n, i.address(1, i.inShared()))
	for k, name := range to {
		code += i.putTo(name, "simt_v.v["+strconv.Itoa(k)+"]")
	}
	if special == "acquire" {
		code += " simt_fence_acquire();"
	}
	return code
}

func store(i *inst) string {
	if i.has("async") {
		return i.storeAsync()
	}
	if !i.count(2, 3) {
		return ""
	}
	n, special := i.accessParts()
	t, from := i.t(), i.list(1)
	if len(from) != n {
		return i.refuse(fmt.Sprintf("its vector has %d registers, not %d", n, len(from)))
	}
	var values []string
	for _, name := range from {
		values = append(values, asType(i.value(name), t))
	}
	code := fmt.Sprintf("simt::ptx::store%s<%s, %d>(%s, {{%s}});", specialName(special), types[t], n, i.address(0, i.inShared()), strings.Join(values, ", "))
	if special == "release" {
		code = "__threadfence(); " + code
	}
	return code
}

// copyAsync is cp.async and its groups.
func copyAsync(i *inst) string {
	if len(i.parts) < 2 || i.parts[1] != "async" {
		return i.refuse(instead(i.op))
	}
	kind := ""
	if len(i.parts) > 2 {
		kind = i.parts[2]
	}
	switch kind {
	case "commit_group":
		return "simt_copy_commit();"
	case "wait_all":
		return "simt::ptx::waitForAllCopies();"
	case "wait_group":
		if !i.count(1) {
			return ""
		}
		return "simt_copy_wait((size_t)" + i.raw(0) + ");"
	case "ca", "cg":
	case "bulk":
		return copyBulk(i)
	case "mbarrier":
		if !i.has("arrive") || !i.count(1) {
			return i.refuse("cp.async.mbarrier.arrive is served")
		}
		counted := "0"
		if i.has("noinc") {
			counted = "1"
		}
		return "simt_mbarrier_arrive_copies(" + i.address(0, i.inShared()) + ", " + counted + ", " + line + ");"
	default:
		return i.refuse(instead(i.op))
	}
	for _, p := range i.parts[3:] {
		if p != "shared" && p != "shared::cta" && p != "global" && !strings.HasPrefix(p, "L2::") {
			return i.refuse("." + p + " is not served")
		}
	}
	if !i.count(3, 4, 5) {
		return ""
	}
	size := i.raw(2)
	if kind == "cg" && strings.HasPrefix(size, "(long long)") && size != "(long long)16" {
		return i.refuse("it copies 16 bytes; cp.async.ca copies 4, 8 or 16")
	}
	taken := size
	if len(i.args) > 3 && !i.has("L2::cache_hint") || len(i.args) == 5 {
		taken = i.raw(3)
	}
	return fmt.Sprintf("simt::ptx::copyAsync(%s, %s, (unsigned)%s, (unsigned)%s);", i.addressNumber(0), i.addressNumber(1), size, taken)
}

// atomic is atom and red.
func atomic(i *inst) string {
	t := i.t()
	op := ""
	names := map[string]string{"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "and": "atomicAnd", "or": "atomicOr",
		"xor": "atomicXor", "exch": "atomicExch", "cas": "atomicCAS", "inc": "atomicInc", "dec": "atomicDec"}
	fenced := ""
	for _, p := range i.parts[1:] {
		switch {
		case names[p] != "":
			op = names[p]
		case p == "acquire" || p == "release" || p == "acq_rel":
			fenced = p
		case p == "relaxed" || p == "gpu" || p == "cta" || p == "cluster" || p == "sys" || p == "global" || p == "shared" || p == "shared::cta" || p == "shared::cluster" || p == "noftz" || types[p] != "":
		default:
			return i.refuse("." + p + " is not served")
		}
	}
	if op == "" {
		return i.refuse("add, min, max, and, or, xor, exch, cas, inc and dec are served")
	}
	kind := map[string]string{"b32": "unsigned", "u32": "unsigned", "s32": "int", "b64": "unsigned long long", "u64": "unsigned long long",
		"s64": "long long", "f32": "float", "f64": "double", "f16": "__half", "bf16": "__nv_bfloat16", "f16x2": "__half2", "bf16x2": "__nv_bfloat162", "b16": "unsigned short"}[t]
	first := 1 // the address
	if i.parts[0] == "red" {
		first = 0
	}
	want := first + 2
	if op == "atomicCAS" {
		want++
	}
	if !i.count(want) {
		return ""
	}
	if ofPair[t] != "" {
		return i.refuse("use atomicAdd of a half2")
	}
	call := fmt.Sprintf("%s((%s *)(%s)", op, kind, i.address(first, i.inShared()))
	for n := first + 1; n < want; n++ {
		call += ", simt::ptx::as<" + kind + ">(" + i.raw(n) + ")"
	}
	call += ")"
	code := call + ";"
	if first == 1 {
		code = i.put(call)
	}
	if fenced == "release" || fenced == "acq_rel" {
		code = "__threadfence(); " + code
	}
	if fenced == "acquire" || fenced == "acq_rel" {
		code += " simt_fence_acquire();"
	}
	return code
}
