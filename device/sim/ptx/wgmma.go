package ptx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The numbers are those of runtime/wgmma.h.
var (
	factors   = map[string]int{"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 3, "e5m2": 4, "s8": 5, "u8": 6}
	sumTypes  = map[string]int{"f32": 0, "f16": 1, "s32": 2}
	wgmmaForm = regexp.MustCompile(`^m64n(\d+)k(\d+)$`)
	sumLists  = regexp.MustCompile(`\bwgmma\.mma_async[^;{]*\{([^}]*)\}`)
)

const wgmmaServed = "m64n8k16 to m64n256k16 of f16 and bf16, k8 of tf32, k32 of e4m3, e5m2, s8 and u8 are served; sums are f32, f16 or s32"

// sumOperands names the operands of an asm that are sums of wgmma: these stay where they are,
// for they are written only when wgmma.wait_group says so.
func sumOperands(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range sumLists.FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Split(m[1], ",") {
			names[strings.TrimSpace(name)] = true
		}
	}
	return names
}

func wgmma(i *inst) string {
	if len(i.parts) < 2 {
		return i.refuse(wgmmaServed)
	}
	switch i.parts[1] {
	case "fence":
		return "simt_wgmma_fence(" + line + ");"
	case "commit_group":
		return "simt_wgmma_commit(" + line + ");"
	case "wait_group":
		if !i.count(1) {
			return ""
		}
		return "simt_wgmma_wait((unsigned long long)" + i.raw(0) + ", " + line + ");"
	case "mma_async":
		return i.multiplyGroup()
	}
	return i.refuse("fence, mma_async, commit_group and wait_group are served")
}

// shape reads m64nNkK and the three types, and returns them as runtime/wgmma.h packs them.
func (i *inst) shape() (code, columns, a, sum int, ok bool) {
	var kinds []string
	depth := 0
	for _, p := range i.parts[2:] {
		m := wgmmaForm.FindStringSubmatch(p)
		switch {
		case m != nil:
			columns, _ = strconv.Atoi(m[1])
			depth, _ = strconv.Atoi(m[2])
		case p == "satfinite":
			code |= 1 << 22
		case p != "sync" && p != "aligned":
			kinds = append(kinds, p)
		}
	}
	if len(kinds) != 3 {
		return
	}
	sum, known := sumTypes[kinds[0]]
	a, knownA := factors[kinds[1]]
	b, knownB := factors[kinds[2]]
	integers, bytes := a >= 5, a == 3 || a == 4
	same := a == b || integers && b >= 5 || bytes && (b == 3 || b == 4)
	fits := columns >= 8 && columns <= 256 && columns%8 == 0 && (!integers || columns <= 24 || columns%16 == 0)
	sums := sum == 0 && !integers || sum == 1 && (a == 0 || bytes) || sum == 2 && integers
	ok = known && knownA && knownB && same && fits && sums && depth == map[bool]int{true: 16, false: map[bool]int{true: 8, false: 32}[a == 2]}[a < 2]
	return code | columns | a<<9 | b<<12 | sum<<15, columns, a, sum, ok
}

// multiplyGroup writes wgmma.mma_async: the sums, a (a descriptor or four registers), b's
// descriptor, whether to add, and for some types signs and transpositions.
func (i *inst) multiplyGroup() string {
	code, columns, a, sum, ok := i.shape()
	if !ok {
		return i.refuse(wgmmaServed)
	}
	registers := strings.HasPrefix(strings.TrimSpace(i.arg(1)), "{")
	want := 4 // d, a, b, whether to add
	if a < 5 {
		want = 6
	}
	if a < 2 {
		want = 8
		if registers {
			want = 7
		}
	}
	if !i.count(want) {
		return ""
	}
	n := columns / 2
	if sum == 1 {
		n = columns / 4
	}
	names := i.list(0)
	if len(names) != n {
		return i.refuse(fmt.Sprintf("a thread has %d registers of its sums, not %d", n, len(names)))
	}
	var places []string
	for _, name := range names {
		place, ok := i.scope.places[name]
		if !ok {
			return i.refuse("its sums have to be operands of the asm, such as \"+f\"(d[0])")
		}
		places = append(places, place)
	}
	descriptor, words := "0ull", []string{"0u", "0u", "0u", "0u"}
	if registers {
		list := i.list(1)
		if len(list) != 4 {
			return i.refuse("a takes four registers")
		}
		for k, name := range list {
			words[k] = asType(i.value(name), "b32")
		}
		code |= 1 << 17
	} else {
		descriptor = i.as(1, "b64")
	}
	form := fmt.Sprintf("%du", code)
	bit := func(n, at int, when string) { form += fmt.Sprintf(" | (unsigned)(%s %s) << %d", i.raw(n), when, at) }
	if want >= 6 {
		bit(4, 20, "== -1")
		bit(5, 21, "== -1")
	}
	switch want {
	case 8:
		bit(6, 18, "!= 0")
		bit(7, 19, "!= 0")
	case 7:
		bit(6, 19, "!= 0")
	}
	return fmt.Sprintf("simt_wgmma(%s, %s, %s, %s, (int)%s, %s, %s);", form, descriptor, i.as(2, "b64"), strings.Join(words, ", "),
		i.as(3, "pred"), line, strings.Join(places, ", "))
}
