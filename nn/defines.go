package nn

import (
	"maps"
	"strconv"
)

// defines are the numbers that a file's kernels and their launches both go by. They
// are told here alone, and handed to the compiler as macros.
var defines = map[string]map[string]int{
	"linear.cu":    with(epilogues, map[string]int{"BLOCK": linearBlock}),
	"alone.cu":     epilogues,
	"gemm.cu":      with(epilogues, map[string]int{"BLOCK": linearBlock}),
	"product.cu":   with(epilogues, map[string]int{"BLOCK": productBlock, "SLAB": slab}),
	"pieces.cu":    {"BLOCK": splitBlock, "SLAB": slab},
	"norm.cu":      {"BLOCK": normBlock, "HELD": normHeld},
	"argmax.cu":    {"BLOCK": argmaxBlock},
	"rope.cu":      {"HEADS": ropeHeads},
	"attention.cu": {"BLOCK": attentionBlock, "MAX_DIM": maxDim},
}

// epilogues are what may happen to x · wᵀ + bias.
var epilogues = map[string]int{"GELU": int(thenGELU), "ADD": int(thenAdd), "SWIGLU": int(thenSwiGLU)}

func with(a, b map[string]int) map[string]int {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

// hopperDefines are those of hopper.cu, which is compiled for tiles of different sizes.
func hopperDefines(columns int) map[string]int {
	return with(epilogues, map[string]int{"SLAB": slab, "COLUMNS": columns})
}

// macros are defines as a compiler takes them.
func macros(defines map[string]int) map[string]string {
	texts := map[string]string{}
	for name, n := range defines {
		texts[name] = strconv.Itoa(n)
	}
	return texts
}
