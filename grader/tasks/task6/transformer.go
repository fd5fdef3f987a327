package task6

import "math"

// Real is what the parts of a transformer are computed in: float64 for what is
// right, float32 for how close an output can be expected to come.
type Real interface{ float32 | float64 }

// Linear is y [n, width] = x [n, in] · wᵀ, with w [width, in].
func Linear[T Real](x []T, w []float32, in int) []T {
	n, width := len(x)/in, len(w)/in
	y := make([]T, n*width)
	for i := range n {
		row := x[i*in : (i+1)*in]
		for o := range width {
			var sum T
			for j, weight := range w[o*in : (o+1)*in] {
				sum += row[j] * T(weight)
			}
			y[i*width+o] = sum
		}
	}
	return y
}

// Affine is linear plus a bias [width] in each row, if there is one.
func Affine[T Real](x []T, w, bias []float32, in int) []T {
	y := Linear(x, w, in)
	for i := range y {
		if bias != nil {
			y[i] += T(bias[i%len(bias)])
		}
	}
	return y
}

// LayerNorm normalises each row of x [n, len(gain)].
func LayerNorm[T Real](x []T, gain, bias []float32, epsilon float64) []T {
	y := make([]T, len(x))
	width := len(gain)
	for first := 0; first < len(x); first += width {
		row := x[first : first+width]
		var mean, variance T
		for _, v := range row {
			mean += v
		}
		mean /= T(width)
		for _, v := range row {
			variance += (v - mean) * (v - mean)
		}
		inverse := T(1 / math.Sqrt(float64(variance/T(width))+epsilon))
		for i, v := range row {
			y[first+i] = (v-mean)*inverse*T(gain[i]) + T(bias[i])
		}
	}
	return y
}

// rotate is RoPE of one token's x [heads × dim]: in each head, the pairs i and
// i + dim/2 turn by position · base^(-2i/dim).
func rotate[T Real](x []T, dim, position int, base float64) {
	half := dim / 2
	for head := 0; head < len(x); head += dim {
		for i := range half {
			angle := T(position) * T(math.Pow(base, -2*float64(i)/float64(dim)))
			sin, cos := math.Sincos(float64(angle))
			a, b := x[head+i], x[head+i+half]
			x[head+i] = a*T(cos) - b*T(sin)
			x[head+i+half] = b*T(cos) + a*T(sin)
		}
	}
}

// swiGLU is silu(gate) · up.
func swiGLU[T Real](gate, up []T) []T {
	y := make([]T, len(gate))
	for i, g := range gate {
		y[i] = g / (1 + T(math.Exp(float64(-g)))) * up[i]
	}
	return y
}

// Gelu is GPT-2's form of it.
func Gelu[T Real](x []T) {
	for i, v := range x {
		inside := T(math.Sqrt(2/math.Pi)) * (v + T(0.044715)*v*v*v)
		x[i] = v / 2 * (1 + T(math.Tanh(float64(inside))))
	}
}

// Add is x + y, written to x.
func Add[T Real](x, y []T) {
	for i := range x {
		x[i] += y[i]
	}
}
