package judge

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// Mistake is what a wrong answer would look like, and what to say of one that looks like that.
type Mistake struct {
	// Out is the whole output, in order, in pieces of any size: they are computed no further than it takes to tell
	// that an output is another. NaN stands for numbers that nobody can foretell, such as those of a row without a key:
	// there an output may hold anything but what is right.
	Out iter.Seq[[]float64]
	// Rounds says that all that is wrong is rounding. Such an output is nearly right, and nearer to Out than to the
	// plain way's.
	Rounds bool
	Says   string
}

// Wrong is a mistake whose output is computed at once, if it is looked at.
func Wrong(out func() []float64, says string) Mistake {
	return Mistake{Out: func(yield func([]float64) bool) { yield(out()) }, Says: says}
}

// Rounded is a mistake that keeps too few bits.
func Rounded(out func() []float32, says string) Mistake {
	m := Wrong(func() []float64 { return Wide(out()) }, says)
	m.Rounds = true
	return m
}

// Like is a mistake that gives these numbers.
func Like(values []float32, says string) Mistake {
	return Wrong(func() []float64 { return Wide(values) }, says)
}

// Whole is all of a mistake's output.
func (m Mistake) Whole() (out []float64) {
	for piece := range m.Out {
		out = append(out, piece...)
	}
	return out
}

// nearly bounds the error of what may be wrong by rounding alone.
const nearly = 0.1

// Recognise gives what is said of the first mistake whose output this is; "" where it is of none.
func (t Truth) Recognise(got []float32, j Judgement, known ...Mistake) string {
	for says := range t.recognised(got, j, known) {
		return says
	}
	return ""
}

// RecogniseAll is the same of all mistakes: of small cases several may be true.
func (t Truth) RecogniseAll(got []float32, j Judgement, known ...Mistake) string {
	return strings.Join(slices.Collect(t.recognised(got, j, known)), "; or ")
}

func (t Truth) recognised(got []float32, j Judgement, known []Mistake) iter.Seq[string] {
	return func(yield func(string) bool) {
		most := t.mostApart(got)
		for _, m := range known {
			if m.Rounds && !(j.Error < nearly) {
				continue
			}
			if t.shows(got, m, most) && !yield(m.Says) {
				return
			}
		}
	}
}

// mostApart is the square of the distance that an output has at most from that of a mistake which it shows.
func (t Truth) mostApart(got []float32) float64 {
	var size, wrong float64
	for i, g := range got {
		if g := float64(g); !math.IsNaN(g) && !math.IsInf(g, 0) {
			size, wrong = size+g*g, wrong+(g-t.Want[i])*(g-t.Want[i])
		}
	}
	// Where the two are alike, a mistake's output is at most this much larger.
	l := LikenessOf(t.Type)
	return max(size*(l*l)/((1-l)*(1-l))*(1+1e-9), Explained*Explained*wrong)
}

// Explained is how much of an output's error a mistake may leave that explains it, by however little it is wrong.
const Explained = 0.01

// Nearer is how many times nearer an output is to that of a mistake which it shows than to the truth. Where numbers are
// cut off, not rounded, all are a little too small, and so they are where a sum has a few terms too many: what leaves more
// than a third of the error is not what happened.
const Nearer = 3

// shows tells whether an output is a mistake's: it is alike, and nearer to that than to the truth, which is not alike;
// or it is a hundred times nearer, by however little it is wrong.
func (t Truth) shows(got []float32, m Mistake, most float64) bool {
	// Squares: of got from m, of m, of the plain way from m, of got from the truth and from the plain way.
	var off, size, plain, wrong, rough float64
	at, row := 0, -1
	for piece := range m.Out {
		for _, w := range piece {
			i := at
			at++
			if math.IsNaN(w) {
				if r := t.Row(i); r != row {
					if row = r; (t.Scale == nil || t.Scale[r] != 0) && t.RowError(got, r) < Likeness {
						return false
					}
				}
				continue
			}
			g, p := float64(got[i]), float64(t.Plain[i])
			off, size, plain = off+(g-w)*(g-w), size+w*w, plain+(p-w)*(p-w)
			wrong, rough = wrong+(g-t.Want[i])*(g-t.Want[i]), rough+(g-p)*(g-p)
		}
		if !m.Rounds && !(off <= most) { // NaN, too
			return false
		}
	}
	if m.Rounds {
		return off < rough/4
	}
	l := LikenessOf(t.Type)
	alike := off <= l*l*size && Nearer*Nearer*off < wrong && plain > l*l*size
	return alike || wrong > 0 && off <= Explained*Explained*wrong
}

// Exactly gives what is said of all mistakes whose output this is, number by number, where want is right.
func Exactly(got, want []float32, known ...Mistake) string {
	var says []string // of small cases several may be true
	for _, m := range known {
		if out := m.Whole(); !equal(want, out) && equal(got, out) {
			says = append(says, m.Says)
		}
	}
	return strings.Join(says, "; or ")
}

// equal: the sign of a zero does not count, nor do the bits of a NaN. What was never written is none.
func equal(got []float32, other []float64) bool {
	for i, x := range other {
		if float64(got[i]) != x && !(got[i] != got[i] && x != x && math.Float32bits(got[i]) != Poison) {
			return false
		}
	}
	return true
}
