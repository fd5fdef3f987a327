package b5

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// scales4 is how many codes a scale of NVFP4 may have: its sign is always 0.
const scales4 = 128

// anyTwoLevels makes scales of every code in turn, in another order for every seed, and one for the tensor. The first is
// neither zero, NaN nor subnormal: small cases have no other.
func anyTwoLevels(c problem.Problem, in []*tensor.Tensor) error {
	codes := make([]byte, len(in[0].Data)/2)
	step, start := 2*int(c.Seed%64)+1, 8+int(c.Seed/64%(scales4-9))
	for i := range codes {
		codes[i] = byte((start + i*step) % scales4)
	}
	copy(in[0].Data, tensor.Int4.Decode(codes))
	if err := tensor.Fill(in[1].Data, tensor.Uniform, c.Seed, c.Inputs[2].Stream, 0); err != nil {
		return err
	}
	in[1].Data[0] = float32(1+math.Abs(float64(in[1].Data[0]))) / 2048
	return nil
}

// exactly reads NVFP4 in float64, where both products are exact, and rounds once.
func (w weights) exactly() []float32 {
	x := make([]float32, w.count)
	for i := range x {
		x[i] = float32(float64(w.number(w.code(i))) * float64(w.scales[w.blockOf(i)]) * float64(w.tensor))
	}
	return x
}

// andTensor is what a message adds to a block's scale.
func (w weights) andTensor() string {
	if !w.isNVFP4() {
		return ""
	}
	return fmt.Sprintf(", times the tensor's, %v", w.tensor)
}

// misreadTwoLevels are mistakes of NVFP4 alone. Each function gives a number's product otherwise.
func (w weights) misreadTwoLevels() []judge.Mistake {
	read := func(says string, number func(x, scale float32) float32) judge.Mistake {
		return judge.Wrong(func() []float64 { return judge.Wide(w.products(number)) }, says)
	}
	return []judge.Mistake{
		read("the tensor's scale is missing: a weight is its number times its block's scale, times the tensor's",
			func(x, scale float32) float32 { return x * scale }),
		read("scales are read as integers: E4M3 is a sign, four bits of exponent and three of fraction",
			func(x, scale float32) float32 { return x * float32(codeOfScale(scale)) * w.tensor }),
	}
}

// missedEnds are mistakes that only weights show, not their products: of some scales, of the last bit, or far too large.
func (w weights) missedEnds() []judge.Mistake {
	const infinite = 256 // from the exponent 15 on
	scaled := func(scale func(float32) float32) []float32 { return w.otherwise(nil, nil, nil, scale) }
	return []judge.Mistake{
		judge.Like(w.products(func(x, scale float32) float32 { return x * scale / w.tensor }),
			"numbers are divided by the tensor's scale: whoever reads them multiplies"),
		judge.Like(w.products(func(x, scale float32) float32 { return x * quant.FromE8M0(codeOfScale(scale)) * w.tensor }),
			"scales are read as E8M0, powers of two: NVFP4's are E4M3, four bits of exponent and three of fraction"),
		judge.Like(w.products(func(x, scale float32) float32 { return x * (scale * w.tensor) }),
			"the two scales are multiplied first, which rounds once more: number times block's scale is exact, and comes first"),
		judge.Like(scaled(func(s float32) float32 {
			if s != s {
				return 480
			}
			return s
		}), "the scale 127 is NaN, and makes all of its block NaN: it is not 480"),
		judge.Like(scaled(func(s float32) float32 {
			if s >= infinite {
				return float32(math.Inf(1))
			}
			return s
		}), "E4M3 has no infinity: with all bits of the exponent it goes on, up to 448, and 127 alone is NaN"),
		judge.Like(scaled(func(s float32) float32 {
			if s >= infinite || s != s {
				return float32(math.NaN())
			}
			return s
		}), "E4M3 has no infinity: with all bits of the exponent it goes on, up to 448, and 127 alone is NaN"),
		judge.Like(scaled(func(s float32) float32 {
			if s < 0x1p-6 {
				return 0
			}
			return s
		}), "the smallest scales are lost: with the exponent 0 E4M3 is its fraction times 2^−9"),
		judge.Like(scaled(func(s float32) float32 {
			if s < 0x1p-6 {
				return s/2 + 0x1p-7
			}
			return s
		}), "the smallest scales have a one too many: with the exponent 0 E4M3 is its fraction times 2^−9"),
	}
}

// products reads the weights with another product of a number and its block's scale.
func (w weights) products(of func(x, scale float32) float32) []float32 {
	x := make([]float32, w.count)
	for i := range x {
		x[i] = of(w.number(w.code(i)), w.scales[w.blockOf(i)])
	}
	return x
}

// codeOfScale is the code of a scale of E4M3.
func codeOfScale(s float32) byte {
	for code := range byte(scales4) {
		if quant.FromE4M3(code) == s {
			return code
		}
	}
	return scales4 - 1
}
