package judge

import (
	"fmt"
	"math"
	"slices"

	"flashlab/tensor"
)

// The error bound, relative to a row's scale.
const (
	times       = 8    // the RMS error of the plain float32 evaluation
	floor       = 2e-6 // where that is very small
	timesNarrow = 2    // the same of the plain mixed evaluation: nearly all of its error is one rounding
)

// Layout is how an output is divided into rows: it is [Outer, Len, Inner], and a row
// runs along Len.
type Layout struct{ Outer, Len, Inner int }

// Rows is the number of rows.
func (l Layout) Rows() int { return l.Outer * l.Inner }

// Row is the row that an element belongs to.
func (l Layout) Row(offset int) int { return offset/(l.Len*l.Inner)*l.Inner + offset%l.Inner }

// First is the offset of a row's first element; the others lie Inner apart.
func (l Layout) First(row int) int { return row/l.Inner*l.Len*l.Inner + row%l.Inner }

// Truth is what an output is compared with.
type Truth struct {
	Layout
	Want  []float64
	Plain []float32 // the same in plain float32: how close an output can be expected to come
	// Scale is what each row's error is relative to; nil means the row's RMS.
	// Where large terms may cancel, that is too small to be fair.
	Scale []float64
	// Type is that of the output's elements. Of a narrow one, Plain is the plain mixed way: inputs
	// as given, sums in float32, what must be narrow rounded once.
	Type tensor.Type
	// Least is what any bound is at least, and Because says why: one right rounding may make a larger difference
	// than those that the plain way happened to meet. 0 for none.
	Least   float64
	Because string
}

// Judgement is how an output compares with the truth.
type Judgement struct {
	Passed bool
	Worst  int     // offset of the worst row's worst element
	Got    float64 // there
	Want   float64
	Error  float64 // RMS error of the worst row, relative to its scale
	Bound  float64 // what it may be
	Times  string  // where the bound comes from, if not plainTimes
}

// plainTimes is where most bounds come from.
const plainTimes = "8 × plain float32"

// Judge compares row by row, so that a wrong row cannot hide behind large ones.
func (t Truth) Judge(got []float32) Judgement {
	j := Judgement{Bound: math.Max(times*t.plainError(), floor)}
	if t.Type != tensor.Float32 {
		j.Bound, j.Times = timesNarrow*max(t.plainError(), rounding(t.Type)), fmt.Sprintf("2 × the plain mixed way: %v, sums in float32", t.Type)
	}
	if t.Least > j.Bound {
		j.Bound, j.Times = t.Least, t.Because
	}
	worst := -1.0
	for row := range t.Rows() {
		if e, at := measure(t, got, row); e > worst {
			worst = e
			j.Error, j.Worst = e, at
		}
	}
	j.Passed = worst <= j.Bound
	j.Got, j.Want = float64(got[j.Worst]), t.Want[j.Worst]
	return j
}

// rounding is the error, by the root of its mean square, of numbers of all sizes that are rounded once:
// 0.42 of what the last bit of 1 is half of. The plain way's rows may have less, by luck: a row
// of a single key needs no rounding at all.
func rounding(ty tensor.Type) float64 { return 0.42 * halfBit(ty) }

// halfBit is half of the last bit of 1: no number of a type is rounded by more of its size.
func halfBit(ty tensor.Type) float64 {
	one := []float32{1}
	next := ty.Encode(one)
	next[0]++ // the number behind 1
	return float64(ty.Decode(next)[0]-1) / 2
}

// AnyRow is for rows of an attention that are drawn from millions, in run after run: the worst of them need not be
// like those that the plain way is measured on. It allows what a right row can have at most: a sum that is almost one
// term, whose weight is rounded by half its last bit, and then the output, whose numbers may all be little more than a
// power of two: then each is rounded by anything up to half the last bit, and the root of its mean square is 1/√3 of that.
func (t Truth) AnyRow() Truth {
	t.Least, t.Because = halfBit(t.Type)*math.Hypot(1, 1/math.Sqrt(3)), fmt.Sprintf("a row whose only weight is rounded to %v by half its last bit", t.Type)
	return t
}

// RowError is the error of one row, relative to its scale.
func (t Truth) RowError(got []float32, row int) float64 {
	e, _ := measure(t, got, row)
	return e
}

// plainError is the RMS over the rows of the plain evaluation's errors. One
// row's own error may be small by luck.
func (t Truth) plainError() float64 {
	var sum float64
	for row := range t.Rows() {
		e, _ := measure(t, t.Plain, row)
		sum += e * e
	}
	return math.Sqrt(sum / float64(t.Rows()))
}

// measure is one row's RMS error relative to its scale, and where it is worst.
// NaN counts as infinite.
func measure(t Truth, got []float32, row int) (relative float64, worst int) {
	first := t.First(row)
	worst = first
	var sum, ref, largest float64
	for i := range t.Len {
		at := first + i*t.Inner
		g := float64(got[at])
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return math.Inf(1), at
		}
		e := math.Abs(g - t.Want[at])
		sum += e * e
		ref += t.Want[at] * t.Want[at]
		if e > largest {
			largest, worst = e, at
		}
	}
	if t.Scale != nil {
		ref = t.Scale[row] * t.Scale[row] * float64(t.Len)
	}
	if sum == 0 {
		return 0, worst
	}
	return math.Sqrt(sum / ref), worst // infinite where the row must be 0
}

// Same tells whether an output is, but for rounding, another one: what a known
// mistake would give.
func (t Truth) Same(got []float32, other []float64) bool {
	var diff, size float64
	for i, w := range other {
		g := float64(got[i])
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return false
		}
		diff += (g - w) * (g - w)
		size += w * w
	}
	return math.Sqrt(diff) <= LikenessOf(t.Type)*math.Sqrt(size)
}

// LikeRounding tells whether an output may be wrong by rounding alone: by little, and by about as much in
// most rows as in the worst one.
func (t Truth) LikeRounding(got []float32, j Judgement) bool {
	if !(j.Error < 1e-2) {
		return false
	}
	errors := make([]float64, t.Rows())
	for row := range errors {
		errors[row] = t.RowError(got, row)
	}
	slices.Sort(errors)
	return errors[len(errors)/2] > max(j.Bound, j.Error)/alike
}

// alike is how much worse the worst row may be than the middle one, if all that is wrong is rounding.
const alike = 32

// Concat puts truths of equal row lengths one after another.
func Concat(truths []Truth) Truth {
	var all Truth
	for _, t := range truths {
		all.Layout, all.Type = Layout{all.Outer + t.Rows(), t.Len, 1}, t.Type
		if t.Least > all.Least {
			all.Least, all.Because = t.Least, t.Because
		}
		all.Want, all.Plain, all.Scale = slices.Concat(all.Want, t.Want), slices.Concat(all.Plain, t.Plain), slices.Concat(all.Scale, t.Scale)
	}
	return all
}

// Likeness is how far apart two outputs that count as the same may be, relative to their size.
const Likeness = 1e-3

// LikenessOf is Likeness for outputs of a type: a bfloat16 is rounded by more.
func LikenessOf(ty tensor.Type) float64 {
	if ty == tensor.BFloat16 {
		return 6e-3
	}
	return Likeness
}
