package quant

import "slices"

// CacheGroup is how many tokens of a KIVI cache are quantised together.
const CacheGroup = 32

// Caches are what keys and values may be kept in: halves, 8 bits with a scale for each token and head, 4
// bits with a scale and a low for each, or KIVI's 4 bits, where each channel of k has these over a group
// of tokens, and the tokens of a group that is not full are halves.
var Caches = []string{"halves", "int8", "int4", "kivi"}

// Kept are a head's keys or values [tokens, dim], which are halves, as a cache reads them back. Those of a KIVI group
// that is not full yet stay as they are.
func Kept(cache string, x []float32, dim int, keys bool) []float32 {
	y := slices.Clone(x)
	switch {
	case cache == "halves":
	case cache == "kivi" && keys:
		const group = CacheGroup
		for from := 0; from+group*dim <= len(x); from += group * dim {
			for c := range dim {
				column := make([]float32, group)
				for t := range column {
					column[t] = x[from+t*dim+c]
				}
				for t, back := range four(column) {
					y[from+t*dim+c] = back
				}
			}
		}
	default:
		for from := 0; from < len(x); from += dim {
			row := x[from : from+dim]
			if cache == "int8" {
				copy(y[from:], eight(row))
			} else {
				copy(y[from:], four(row))
			}
		}
	}
	return y
}

// Closed is how many of so many tokens such a cache has quantised: what is above them it reads as halves.
func Closed(cache string, tokens int) int {
	if cache == "kivi" {
		return tokens / CacheGroup * CacheGroup
	}
	return tokens
}

func eight(x []float32) []float32 {
	codes, y := make([]int8, len(x)), make([]float32, len(x))
	scale := Symmetric8(codes, x)
	for i, code := range codes {
		y[i] = Number8(code, scale)
	}
	return y
}

func four(x []float32) []float32 {
	codes, y := make([]uint8, len(x)), make([]float32, len(x))
	scale, low := Asymmetric4(codes, x)
	for i, code := range codes {
		y[i] = Number4(code, scale, low)
	}
	return y
}
