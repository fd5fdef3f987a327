package judge

import (
	"fmt"
	"math"

	"flashlab/tensor"
)

// Poison is what the grader fills outputs of float32 with before a call; those of another type
// are full of what this is there (tensor.Type.Unwritten).
const Poison = 0xFFFFFFFF

// Census counts kinds of elements, by their contents, in a float32 output.
func Census(got []float32) (unwritten, nan, zero int) { return CensusOf(tensor.Float32, got) }

// CensusOf is Census for outputs of a type.
func CensusOf(t tensor.Type, got []float32) (unwritten, nan, zero int) {
	for _, v := range got {
		switch {
		case isUnwritten(t, v):
			unwritten++
		case v != v || math.IsInf(float64(v), 0):
			nan++
		case v == 0:
			zero++
		}
	}
	return unwritten, nan, zero
}

func isUnwritten(t tensor.Type, v float32) bool {
	bits, ok := t.Unwritten()
	return ok && math.Float32bits(v) == bits
}

// NothingWritten is how the reason begins where an output is as it was.
const NothingWritten = "nothing was written"

// emptiness recognises outputs that were not written, or are all zero.
func emptiness(t Truth, got []float32) string {
	unwritten, _, zero := CensusOf(t.Type, got)
	switch {
	case unwritten == len(got):
		return NothingWritten + ": every element is as it was before the call (or was computed from memory that nobody had written). Is a launch left out or skipped, perhaps because an earlier call had the same shape?"
	case unwritten > 0:
		return missing(t, got, unwritten)
	case zero == len(got):
		return "every element is 0"
	}
	return ""
}

// missing says which rows were never written.
func missing(t Truth, got []float32, unwritten int) string {
	var whole, parts int
	firstWhole, lastWhole := -1, -1
	for row := range t.Rows() {
		count := 0
		for i := range t.Len {
			if isUnwritten(t.Type, got[t.First(row)+i*t.Inner]) {
				count++
			}
		}
		switch {
		case count == t.Len:
			if whole == 0 {
				firstWhole = row
			}
			whole++
			lastWhole = row
		case count > 0:
			parts++
		}
	}
	total := t.Rows()
	switch {
	case parts > 0:
		return fmt.Sprintf("%d elements were never written, in %d of %d rows", unwritten, whole+parts, total)
	case whole == 1:
		return fmt.Sprintf("row %d of %d was never written", firstWhole, total) + lastOne(firstWhole, total)
	case lastWhole-firstWhole+1 == whole && lastWhole == total-1:
		return fmt.Sprintf("rows %d to %d of %d were never written: they are the last ones. Is the number of blocks rounded down? Round it up, so that a last, partial block counts", firstWhole, lastWhole, total)
	case lastWhole-firstWhole+1 == whole:
		return fmt.Sprintf("rows %d to %d of %d were never written. Does the grid have a block for each part of the rows?", firstWhole, lastWhole, total)
	}
	return fmt.Sprintf("%d of %d rows were never written, the first is row %d", whole, total, firstWhole)
}

func lastOne(index, total int) string {
	if index == total-1 {
		return " (counted from 0): it is the last one. Does the grid have a block for every row?"
	}
	return " (counted from 0)"
}

// General says what can be said about any operation's wrong output.
func General(t Truth, got []float32, j Judgement) string {
	_, nan, _ := CensusOf(t.Type, got)
	if nan > 0 {
		return NotNumbers(nan)
	}
	if near := max(1e-2, 16*j.Bound); j.Error < near && t.Type != tensor.Float32 {
		return fmt.Sprintf("the values are nearly right: more rounding than %v inputs and float32 sums explain. Is a sum kept in 16 bits, or something rounded twice?", t.Type)
	}
	if t.LikeRounding(got, j) {
		return "the values are nearly right: more rounding than float32 explains. Look for fewer bits than a float has: a sum kept in a half, a cast on the way, a value rounded twice"
	}
	if j.Error < 1e-2 {
		return spread(t, got, j.Bound) + ", though only slightly: the others are right, and rounding would show in all rows. What do the wrong ones have in common: their keys, a tile's edge, large scores?"
	}
	return spread(t, got, j.Bound)
}

func NotNumbers(n int) string {
	if n == 1 {
		return "1 element is NaN or infinite"
	}
	return fmt.Sprintf("%d elements are NaN or infinite", n)
}

// FirstOnly recognises outputs of which the first of several equal parts is
// right, and each other one wrong somewhere.
func FirstOnly(wrong []bool, parts int) bool {
	size := len(wrong) / parts
	for i := range parts {
		some := false
		for _, w := range wrong[i*size : (i+1)*size] {
			some = some || w
		}
		if some != (i > 0) {
			return false
		}
	}
	return parts > 1
}

// spread says how many rows are wrong.
func spread(t Truth, got []float32, bound float64) string {
	n := 0
	for _, w := range WrongRows(t, got, bound) {
		if w {
			n++
		}
	}
	return fmt.Sprintf("wrong values in %d of %d rows", n, t.Rows())
}

func WrongRows(t Truth, got []float32, bound float64) []bool {
	wrong := make([]bool, t.Rows())
	for row := range wrong {
		wrong[row] = t.RowError(got, row) > bound
	}
	return wrong
}

// Tiles are the sizes that tiles of rows, columns and keys usually have.
var Tiles = []int{128, 64, 32, 16, 8}

// Edge looks at which of n lines (rows or columns) are wrong: all from one on
// that starts a tile. noun is their name.
func Edge(wrong []bool, noun string) string {
	first := -1
	for i, w := range wrong {
		if w && first < 0 {
			first = i
		}
		if !w && first >= 0 {
			return "" // right ones behind wrong ones
		}
	}
	if first <= 0 {
		return ""
	}
	for _, tile := range Tiles {
		switch {
		case first%tile != 0:
		case len(wrong)-first < tile:
			return fmt.Sprintf("only the %ss from %d on are wrong: the last partial tile (of %d?). Are its bounds checked right?", noun, first, tile)
		case first == tile:
			return fmt.Sprintf("%ss 0 to %d are right, all beyond the first tile are wrong", noun, first-1)
		}
	}
	return fmt.Sprintf("the %ss from %d on are wrong, those before it right", noun, first)
}
