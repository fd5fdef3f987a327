package oracle

import (
	"fmt"
	"math"
)

// poison is what the grader fills outputs with before a call.
const poison = 0xFFFFFFFF

// pattern recognises common mistakes by what they leave behind, and says in
// one sentence what it sees.
func pattern(got, x []float32, want []float64, j Judgement, outer, n, inner int) string {
	unwritten, nan, zero := 0, 0, 0
	for _, v := range got {
		switch {
		case math.Float32bits(v) == poison:
			unwritten++
		case v != v || math.IsInf(float64(v), 0):
			nan++
		case v == 0:
			zero++
		}
	}
	switch {
	case unwritten == len(got):
		return "nothing was written: every element is as it was before the call"
	case unwritten > 0:
		return missing(got, unwritten, outer, n, inner)
	case nan > 0 && large(x):
		return fmt.Sprintf("%d elements are NaN or infinite: did exp overflow? Subtract the row's maximum first", nan)
	case nan > 0:
		return fmt.Sprintf("%d elements are NaN or infinite", nan)
	case zero == len(got):
		return "every element is 0"
	case same(got, Softmax64(x, outer*n, inner, 1)) && inner > 1:
		return "this is the softmax over the last dimension; the task says along len, the second-last"
	case n > 1 && outer*inner > 1 && same(got, Softmax64(x, 1, len(x), 1)):
		return "this is one softmax over all elements; each row has its own"
	}
	return sums(got, j, outer, n, inner)
}

// missing says which rows were never written.
func missing(got []float32, unwritten, outer, n, inner int) string {
	var whole, parts int
	firstWhole, lastWhole := -1, -1
	index := 0
	rows(outer, n, inner, func(first int) {
		count := 0
		for i := range n {
			if math.Float32bits(got[first+i*inner]) == poison {
				count++
			}
		}
		switch {
		case count == n:
			if whole == 0 {
				firstWhole = index
			}
			whole++
			lastWhole = index
		case count > 0:
			parts++
		}
		index++
	})
	total := outer * inner
	switch {
	case parts > 0:
		return fmt.Sprintf("%d elements were never written, in %d of %d rows", unwritten, whole+parts, total)
	case whole == 1:
		return fmt.Sprintf("row %d of %d was never written", firstWhole, total) + lastOne(firstWhole, total)
	case lastWhole-firstWhole+1 == whole:
		return fmt.Sprintf("rows %d to %d of %d were never written", firstWhole, lastWhole, total)
	}
	return fmt.Sprintf("%d of %d rows were never written, the first is row %d", whole, total, firstWhole)
}

func lastOne(index, total int) string {
	if index == total-1 {
		return " (counted from 0): it is the last one. Does the grid have a block for every row?"
	}
	return " (counted from 0)"
}

// sums looks at what the worst row adds up to.
func sums(got []float32, j Judgement, outer, n, inner int) string {
	var sum float64
	rows(outer, n, inner, func(first int) {
		// The row that holds the worst element.
		offset := j.Worst - first
		if offset >= 0 && offset%inner == 0 && offset/inner < n {
			for i := range n {
				sum += float64(got[first+i*inner])
			}
		}
	})
	if math.Abs(sum-1) > 1e-3 {
		return fmt.Sprintf("its row adds up to %.4g instead of 1", sum)
	}
	if j.Error < 1e-3 {
		return "the values are nearly right: more rounding than float32 explains. Is something computed or kept with fewer bits?"
	}
	return "its row adds up to 1, but the values in it are wrong"
}

func large(x []float32) bool {
	for _, v := range x {
		if v > 80 { // exp(89) is beyond float32
			return true
		}
	}
	return false
}

// same tells whether an output is, but for rounding, another function's.
func same(got []float32, want []float64) bool {
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 1e-5+1e-3*w {
			return false
		}
	}
	return true
}
