package quant

// E2M1 is a float of four bits: a sign, two bits of exponent and one of fraction. There is no
// infinity and no NaN.
var e2m1 = ascending{0, 0.5, 1, 1.5, 2, 3, 4, 6}

const largestE2M1 = 6

// codeE2M1 rounds to the nearest, and keeps the sign of a zero.
func codeE2M1(x float64, negative bool) int {
	if negative {
		return 8 | e2m1.nearest(-x)
	}
	return e2m1.nearest(x)
}

// FromE2M1 is the number of a code; only the low four bits count.
func FromE2M1(code int) float32 {
	x := e2m1[code&7]
	if code&8 != 0 {
		return -x
	}
	return x
}

// lowFirst is how MXFP4 and NVFP4 lie in bytes.
var lowFirst = halves{firstIsHigh: false}
