package ptx

import (
	"fmt"
	"strings"
)

// tinyPairs are pairs of 8-bit floats, and what CUDA calls their formats.
var tinyPairs = map[string]string{"e4m3x2": "__NV_E4M3", "e5m2x2": "__NV_E5M2"}

// tinyPair is the format of an instruction to or from such pairs; "" if it is none.
func (i *inst) tinyPair() string {
	for _, p := range i.parts[1:] {
		if f := tinyPairs[p]; f != "" {
			return f
		}
	}
	return ""
}

// convertTiny is cvt.rn.satfinite{.relu}.PAIR.f32 and .f16x2, and cvt.rn{.relu}.f16x2.PAIR.
func convertTiny(i *inst) string {
	var kinds []string
	for _, p := range i.parts[1:] {
		switch {
		case tinyPairs[p] != "" || p == "f32" || p == "f16x2":
			kinds = append(kinds, p)
		case p != "rn" && p != "satfinite" && p != "relu":
			return i.refuse("." + p + " is not served")
		}
	}
	const served = "to e4m3x2 and e5m2x2 from f32 and f16x2, with .rn.satfinite, and from them to f16x2"
	if len(kinds) != 2 || !i.has("rn") {
		return i.refuse(served)
	}
	format := fmt.Sprintf("%s, %v", i.tinyPair(), i.has("relu"))
	switch {
	case kinds[1] == "f32" && i.has("satfinite"): // the first source becomes the upper one
		i.count(3)
		return i.put(fmt.Sprintf("simt::ptx::tiny(%s, %s, %s)", i.as(2, "f32"), i.as(1, "f32"), format))
	case kinds[1] == "f16x2" && i.has("satfinite"):
		i.count(2)
		return i.put(fmt.Sprintf("simt::ptx::tiny(%s, %s)", i.as(1, "f16x2"), format))
	case kinds[0] == "f16x2" && kinds[1] != "f32" && !i.has("satfinite"):
		i.count(2)
		return i.put(fmt.Sprintf("simt::ptx::fromTiny(%s, %s)", i.as(1, "b16"), format))
	}
	return i.refuse(served)
}

// convertPacked is cvt.pack.sat.TYPE.s32 and, for fewer than 16 bits, cvt.pack.sat.TYPE.s32.b32.
func convertPacked(i *inst) string {
	sizes := map[string]int{"u16": 16, "s16": 16, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "u2": 2, "s2": 2}
	form := strings.Join(i.parts[2:], ".")
	to, _, _ := strings.Cut(strings.TrimPrefix(form, "sat."), ".")
	size, rest := sizes[to], "0u"
	switch {
	case size == 16 && form == "sat."+to+".s32":
		i.count(3)
	case size > 0 && size < 16 && form == "sat."+to+".s32.b32":
		i.count(4)
		rest = i.as(3, "b32")
	default:
		return i.refuse("cvt.pack.sat of s32 to integers of 16, 8, 4 and 2 bits is served")
	}
	return i.put(fmt.Sprintf("simt::ptx::packed(%s, %s, %s, %d, %v)", i.as(1, "s32"), i.as(2, "s32"), rest, size, to[0] == 's'))
}

// moveMatrix is movmatrix.
func moveMatrix(i *inst) string {
	i.only("sync", "aligned", "m8n8", "trans")
	if !i.has("m8n8") || !i.has("trans") || !i.has("b16") {
		return i.refuse(".m8n8.trans.b16 is served")
	}
	return i.put("simt::ptx::transposed(" + i.as(1, "b32") + ", " + line + ")")
}

// blackwells are forms that no GPU before Blackwell has.
var blackwells = []string{"tcgen05", "clusterlaunchcontrol", "kind::", "block_scale", "cta_group::", "e2m1", "e2m3", "e3m2", "ue8m0", "f32x2",
	"m16n16", "m8n16", "b6x16", "b4x16", "v8", "st.bulk", "redux.sync.fmin", "redux.sync.fmax", "redux.sync.min.f32", "redux.sync.max.f32",
	"redux.sync.min.abs", "redux.sync.max.abs"}

// needsBlackwell tells whether an instruction is one of those.
func needsBlackwell(op string) bool {
	for _, b := range blackwells {
		if at := strings.Index(op, b); at == 0 || at > 0 && (op[at-1] == '.' || strings.HasPrefix(op[at-1:], ":")) {
			return true
		}
	}
	return false
}
