// Package quant writes numbers in four bits, in blocks that share a scale, and reads them
// again: NF4 (bitsandbytes), MXFP4 (Open Compute's microscaling formats), NVFP4, and INT4 in groups.
//
//	        block              an element           a block's scale
//	NF4     64, of the whole   one of 16 quantiles  float32: the largest magnitude
//	MXFP4   32, of a row       E2M1                 E8M0: a power of two
//	NVFP4   16, of a row       E2M1                 E4M3, times one float32 of the tensor
//	INT4    128, of a row      0 … 15, less a zero  a half, and the zero
//
// A row is what a product sums over. Its last block may be short; so may the last of all. INT4 is rounded to
// the nearest, or by GPTQ, for inputs that it is shown.
//
// What a cache of keys and values is kept in is here as well: 8 bits, and 4 bits with a low.
package quant

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// ErrNotFinite is what an encoder says of a NaN or an infinity that its format cannot hold.
var ErrNotFinite = errors.New("not finite: this format holds finite numbers only")

// finite finds the first number that is not.
func finite(x []float32) error {
	for i, v := range x {
		if d := float64(v); math.IsNaN(d) || math.IsInf(d, 0) {
			return fmt.Errorf("element %d is %v: %w", i, v, ErrNotFinite)
		}
	}
	return nil
}

// whole refuses a matrix that is not made of rows.
func whole(x []float32, row int) error {
	if row < 1 || len(x)%row != 0 {
		return fmt.Errorf("%d numbers are no rows of %d", len(x), row)
	}
	return nil
}

// blocks calls each for every block: its number, and its elements from … up to to.
func blocks(count, row, block int, each func(b, from, to int)) {
	b := 0
	for start := 0; start < count; start += row {
		for from := start; from < start+row; from += block {
			each(b, from, min(from+block, start+row))
			b++
		}
	}
}

// Blocks is how many blocks rows of numbers make, each of which begins with a block of its own.
func Blocks(count, row, block int) int {
	if row == 0 {
		return 0
	}
	return count / row * ((row + block - 1) / block)
}

// magnitude is the largest absolute value.
func magnitude(x []float32) float32 {
	most := float32(0)
	for _, v := range x {
		most = max(most, float32(math.Abs(float64(v))))
	}
	return most
}

// ascending are numbers from the lowest to the highest; an index is a code.
type ascending []float32

// nearest is the code of the number nearest to x. Of two that are equally near it is the even
// one, as IEEE 754 rounds; beyond the ends it is the end.
func (a ascending) nearest(x float64) int {
	up := sort.Search(len(a), func(i int) bool { return float64(a[i]) >= x })
	switch {
	case up == 0:
		return 0
	case up == len(a):
		return len(a) - 1
	}
	below, above := x-float64(a[up-1]), float64(a[up])-x
	if below < above || below == above && up%2 == 1 {
		return up - 1
	}
	return up
}

// halves puts codes of four bits into bytes. What is first is the byte's low half, or its high one.
type halves struct{ firstIsHigh bool }

func (h halves) shift(i int) int {
	if (i%2 == 0) == h.firstIsHigh {
		return 4
	}
	return 0
}

func (h halves) put(packed []byte, i, code int) { packed[i/2] |= byte(code) << h.shift(i) }

func (h halves) get(packed []byte, i int) int { return int(packed[i/2]>>h.shift(i)) & 15 }

// bytesOf is the size of so many codes.
func bytesOf(count int) int { return (count + 1) / 2 }
