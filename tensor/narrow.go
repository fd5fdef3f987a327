package tensor

import "math"

// floating is a float of 1 bit of sign, exponent bits and fraction bits, as IEEE 754 has them:
// the largest exponent is for infinity and NaN, the smallest for zero and subnormal numbers.
func floating(exponent, fraction int, tag string) layout {
	var (
		bias      = 1<<(exponent-1) - 1
		infinity  = uint32(1<<exponent-1) << fraction
		drop      = 23 - fraction // bits of a float32's fraction that have no room
		quiet     = uint32(1) << (fraction - 1)
		signShift = exponent + fraction
	)
	encode := func(x float32) uint32 {
		bits := math.Float32bits(x)
		sign, from, f := bits>>31<<signShift, int(bits>>23&0xff), bits&(1<<23-1)
		switch {
		case from == 0xff && f != 0: // a NaN keeps its upper bits, and becomes a quiet one
			return sign | infinity | f>>drop | quiet
		case from == 0xff:
			return sign | infinity
		case from > 0:
			f |= 1 << 23 // the leading 1
		default:
			from = 1 // subnormal in float32
		}
		to, shift := from-127+bias, drop
		if to < 1 { // subnormal: the fraction moves down until the exponent is the smallest
			to, shift = 1, shift+1-to
		}
		if shift > 25 {
			return sign // less than half of the smallest number
		}
		f += 1<<(shift-1) - 1 + f>>shift&1 // to the nearest, ties to the even one
		// The leading 1, if there still is one, adds 1 to the exponent; so does a carry.
		return sign | min(uint32(to-1)<<fraction+f>>shift, infinity)
	}
	decode := func(code uint32) float32 {
		sign, e, f := code>>signShift<<31, int(code>>fraction)&(1<<exponent-1), code&(1<<fraction-1)
		switch {
		case e == 1<<exponent-1:
			return math.Float32frombits(sign | 0xff<<23 | f<<drop)
		case e == 0:
			small := math.Ldexp(float64(f), 1-bias-fraction)
			return math.Float32frombits(sign | math.Float32bits(float32(small)))
		}
		return math.Float32frombits(sign | uint32(e-bias+127)<<23 | f<<drop)
	}
	return layout{signShift + 1, tag, 1, encode, decode}
}

// whole is an integer, in two's complement.
func whole(bits int, tag string) layout {
	most := float64(int(1)<<(bits-1) - 1)
	encode := func(x float32) uint32 {
		if x != x {
			return 0
		}
		n := math.RoundToEven(float64(x))
		return uint32(int32(max(-most-1, min(n, most)))) & (1<<bits - 1)
	}
	decode := func(code uint32) float32 { return float32(int32(code<<(32-bits)) >> (32 - bits)) }
	return layout{bits, tag, float32(most+1) / 4, encode, decode}
}

// encodeE8M0 rounds to E8M0, whose codes are a float32's exponents, but for the smallest and the largest: 0 is 2^−127,
// which a float32 has as a subnormal number, and 255 is NaN.
func encodeE8M0(x float32) uint32 {
	const nan, one = 255, 1 << 23
	bits := math.Float32bits(x) &^ (1 << 31)
	switch {
	case x != x:
		return nan
	case bits > one: // half of a step up is half of a fraction; a tie goes to the even exponent
		return min((bits+one/2-1+bits>>23&1)>>23, nan-1)
	case bits > one*3/4: // nearer to 2^−126 than to 2^−127
		return 1
	}
	return 0
}

func decodeE8M0(code uint32) float32 {
	switch code {
	case 0:
		return 0x1p-127
	case 255:
		return float32(math.NaN())
	}
	return math.Float32frombits(code << 23)
}
