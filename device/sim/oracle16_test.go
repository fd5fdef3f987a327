package sim

import (
	"cmp"
	"math"
	"math/big"
	"sort"
)

// format is a 16-bit floating-point format, by the list of its numbers: an
// oracle that shares no idea with the code under test.
type format struct {
	values []float64 // those of the codes 0, 1, 2, …, all finite and not negative
	beyond float64   // the number that would come next
}

func newFormat(fraction, bias int) *format {
	f := &format{}
	count := (1<<(15-fraction) - 1) << fraction
	for code := range count {
		exponent, rest := code>>fraction, float64(code&(1<<fraction-1))
		if exponent == 0 {
			f.values = append(f.values, math.Ldexp(rest, 1-bias-fraction))
		} else {
			f.values = append(f.values, math.Ldexp(rest+math.Ldexp(1, fraction), exponent-bias-fraction))
		}
	}
	last := f.values[count-1]
	f.beyond = last + (last - f.values[count-2])
	return f
}

var (
	half16     = newFormat(10, 15)
	bfloat16   = newFormat(7, 127)
	notANumber = uint16(0x7fff)
)

func (f *format) infinity() uint16 { return uint16(len(f.values)) }

func (f *format) value(code uint16) float64 {
	magnitude := code & 0x7fff
	v := math.NaN()
	if int(magnitude) < len(f.values) {
		v = f.values[magnitude]
	} else if magnitude == f.infinity() {
		v = math.Inf(1)
	}
	if code>>15 != 0 {
		v = -v
	}
	return v
}

type direction int

const (
	nearest direction = iota
	towardZero
	upward
	downward
)

// round is the code for a float64, which is exact.
func (f *format) round(v float64, d direction) uint16 {
	switch {
	case v != v:
		return notANumber
	case math.IsInf(v, 0):
		return f.signed(f.infinity(), v < 0)
	case v == 0:
		return f.signed(0, math.Signbit(v))
	}
	size := math.Abs(v)
	return f.choose(v < 0, func(x float64) int { return cmp.Compare(size, x) }, d)
}

func (f *format) signed(code uint16, negative bool) uint16 {
	if negative {
		return code | 0x8000
	}
	return code
}

// choose is the code for a number that is not 0, known by how its size compares.
func (f *format) choose(negative bool, compare func(float64) int, d direction) uint16 {
	// above: the first code whose value is larger.
	above := sort.Search(len(f.values), func(i int) bool { return compare(f.values[i]) < 0 })
	below := above - 1
	low, high := f.values[below], f.beyond
	if above < len(f.values) {
		high = f.values[above]
	}
	if compare(low) == 0 {
		return f.signed(uint16(below), negative)
	}
	code := below
	switch d {
	case nearest:
		middle := compare(low + (high-low)/2)
		if middle > 0 || middle == 0 && below%2 == 1 {
			code = above
		}
	case upward:
		if !negative {
			code = above
		}
	case downward:
		if negative {
			code = above
		}
	}
	return f.signed(uint16(code), negative)
}

// fma is a·b + c, rounded once.
func (f *format) fma(a, b, c float64) uint16 {
	plain := a*b + c
	if math.IsNaN(plain) || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(c, 0) {
		return f.round(plain, nearest)
	}
	exact := new(big.Float).SetPrec(800)
	exact.Mul(new(big.Float).SetFloat64(a), new(big.Float).SetFloat64(b))
	exact.SetPrec(800).Add(exact, new(big.Float).SetFloat64(c))
	if exact.Sign() == 0 {
		return f.round(plain, nearest)
	}
	size := new(big.Float).Abs(exact)
	return f.choose(exact.Sign() < 0, func(x float64) int { return size.Cmp(big.NewFloat(x)) }, nearest)
}
