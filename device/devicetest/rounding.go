package devicetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// NVIDIA does not say how tensor cores round; experiments do. sums are ways in which one may be
// thought to add the products of a row and a column to what is there.
var sums = []struct {
	name string
	add  func(sum float32, left, right []float64) float32
}{
	{"float32 after each term", func(sum float32, left, right []float64) float32 {
		for k := range left {
			sum = float32(float64(sum) + left[k]*right[k])
		}
		return sum
	}},
	{"one rounding", func(sum float32, left, right []float64) float32 {
		total := float64(sum)
		for k := range left {
			total += left[k] * right[k]
		}
		return float32(total)
	}},
	{"by 4, cut off", cutOff(4, 0)},
	{"by 4, cut off 1 bit later", cutOff(4, 1)},
	{"by 8, cut off 1 bit later", cutOff(8, 1)},
	{"by 16, cut off 1 bit later", cutOff(16, 1)},
	{"by 8, cut off 2 bits later", cutOff(8, 2)},
	{"by 16, cut off 2 bits later", cutOff(16, 2)},
	{"by 16, cut off 3 bits later", cutOff(16, 3)},
}

// cutOff shifts some products and the sum so that they fit the largest exponent among them, cuts
// off what falls out behind a float's last bit and a few more, and adds them as integers. The sum
// of that is cut off to a float.
func cutOff(group, more int) func(sum float32, left, right []float64) float32 {
	return func(sum float32, left, right []float64) float32 {
		for from := 0; from < len(left); from += group {
			to := min(from+group, len(left))
			largest := exponent(float64(sum))
			for k := from; k < to; k++ {
				if left[k] != 0 && right[k] != 0 {
					largest = max(largest, exponent(left[k])+exponent(right[k]))
				}
			}
			unit := math.Ldexp(1, largest-23-more)
			total := math.Trunc(float64(sum) / unit)
			for k := from; k < to; k++ {
				total += math.Trunc(left[k] * right[k] / unit)
			}
			sum = towardZero(total * unit)
		}
		return sum
	}
}

// exponent is that of the first bit; of zero, less than any number's.
func exponent(v float64) int {
	if v == 0 {
		return -1000
	}
	_, e := math.Frexp(v)
	return e - 1
}

func towardZero(v float64) float32 {
	f := float32(v)
	if math.Abs(float64(f)) > math.Abs(v) {
		f = math.Nextafter32(f, 0)
	}
	return f
}

// tellRounding logs how often each way gives what the device gave.
func tellRounding(t *testing.T, f factor, left, right, before, got []float32) {
	var table strings.Builder
	for _, s := range sums {
		same := 0
		for i, v := range got {
			block, row, column := i/128, i%128/8, i%8
			a, b := make([]float64, f.depth), make([]float64, f.depth)
			for k := range f.depth {
				a[k], b[k] = cut(left[(block*16+row)*f.depth+k]), cut(right[(block*f.depth+k)*8+column])
			}
			if s.add(before[i], a, b) == v {
				same++
			}
		}
		fmt.Fprintf(&table, "\n%6.1f %%  %s", 100*float64(same)/float64(len(got)), s.name)
	}
	t.Logf("%s: of %d sums the same bits as:%s", f.name, len(got), table.String())
}
