package b3

import (
	"fmt"
	"math"
	"strings"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

type shape = attn.Shape

// codes are tensors in codes, with what they mean.
type codes struct {
	coded []coding
	// score is q·k/√dim by the codes, exact but for a term that is the same for all keys of a row.
	score func(row, key int) float64
}

// coding is one tensor in codes: x is (code − zero) · scale + centre.
type coding struct {
	name                string
	at                  int // its codes' place among the outputs
	codes               []float32
	scale, zero, centre func(i int) float64 // of element i
}

// value is what a code means.
func (c coding) value(i int) float64 {
	return (float64(c.codes[i])-c.zero(i))*c.scale(i) + c.centre(i)
}

// values are those of all codes.
func (c coding) values() []float32 {
	x := make([]float32, len(c.codes))
	for i := range x {
		x[i] = float32(c.value(i))
	}
	return x
}

// none is a zero or centre that is not there.
func none(int) float64 { return 0 }

// job is a case with its inputs.
type job struct {
	c       problem.Problem
	s       shape
	q, k, v []float32
	f       format
}

// mixed is the attention of codes, as float16 keeps it.
func (j job) mixed(c codes) shared.Mixed {
	a := shared.Mixed{S: j.s, Type: tensor.Float16, Q: c.coded[0].values(), K: c.coded[1].values(), V: j.v, Score: c.score}
	if len(c.coded) > 2 {
		a.V = c.coded[2].values()
	}
	return a
}

// given is the attention of the inputs as they came.
func (j job) given() shared.Mixed {
	return shared.Mixed{S: j.s, Type: tensor.Float16, Q: j.q, K: j.k, V: j.v}
}

// rule holds the codes against the inputs, out against attention of the codes, and what the codes cost
// against what they need to.
func (j job) rule(out problem.Answer) judge.Ruling {
	c, why := j.f.read(j.s, j.q, j.k, j.v, out.Tensors)
	if why != "" {
		return judge.Ruling{Reason: why, Details: []string{j.inputs()}}
	}
	for i, x := range [][]float32{j.q, j.k, j.v}[:len(c.coded)] {
		if r, ok := j.nearest(c.coded[i], x); !ok {
			return r
		}
	}
	a, got := j.mixed(c), out.Tensors[0].Data
	t := a.Truth()
	r := judge.Rule(j.c, j, t, got, func(by judge.Judgement) string {
		return a.Pattern(t, got, by, append(j.f.mistakes(j, c), j.asGiven())...)
	})
	if !r.Passed {
		return r
	}
	own := j.f.encode(j.s, j.q, j.k, j.v)
	if cost := j.cost(t.Want, j.mixed(own).Truth().Want); cost != "" {
		if because := j.f.blames(j, c, own); because != "" {
			cost += ": " + because
		}
		return judge.Ruling{Reason: cost, Details: []string{j.inputs()}}
	}
	return r
}

func (j job) String() string { return j.s.String() }

// inputs says what a ruling is about.
func (j job) inputs() string { return fmt.Sprintf("%v, inputs %s", j, j.c.Dist) }

// scaleless is said of scores that lack a scale, or both: they are so large that one key has all the weight.
const scaleless = "a scale is missing from the scores: a sum of products of codes is a whole number, and becomes a score by q's scale and k's, before the softmax"

// asGiven is out computed past the codes.
func (j job) asGiven() judge.Mistake {
	return judge.Wrong(func() []float64 { return j.given().As(shared.Deviation{}) },
		"this is attention of q, k and v as they came: scores are products of codes, and out follows from them")
}

// half is how far off a number a code may be, in steps: half a step, and what float32 adds to it.
const half = 0.502

// off is how far code i is off its number, in steps, and miss how far at least.
func (c coding) off(i int, want float32) (off, miss float64) {
	// A mean in float32 has an error of its own, and so has what it is taken off.
	slack := 1e-6 * (math.Abs(float64(want)) + math.Abs(c.centre(i)))
	off = (c.value(i) - float64(want)) / c.scale(i)
	return off, math.Abs(off) - slack/c.scale(i)
}

// nearest holds each code against its number: no other may be nearer.
func (j job) nearest(c coding, x []float32) (r judge.Ruling, ok bool) {
	wrong, worst, most := 0, 0, 0.0
	wrapped, cut := 0, 0
	for i, want := range x {
		off, miss := c.off(i, want)
		if !(miss <= half) { // NaN, too
			wrong++
			if !(miss <= most) {
				worst, most = i, miss
			}
			if math.Abs(math.Abs(off)-256) < 128 {
				wrapped++
			}
			if math.Abs(off) <= 1.01 {
				cut++
			}
		}
	}
	if wrong == 0 {
		return r, true
	}
	t := j.c.Outputs[c.at]
	r.Reason = fmt.Sprintf("the codes of %s: %d of %d are not the nearest", c.name, wrong, len(x))
	switch {
	case wrapped == wrong:
		r.Reason += ", but 256 off: a code beyond the ends wraps around; hold it at them"
	case cut == wrong:
		r.Reason += ", but the next: cut off in place of rounded?"
	case allSame(c.codes) && c.codes[0] == -1:
		r.Reason += ": all are −1, as before the call. Are they ever written?"
	case allSame(c.codes):
		r.Reason += fmt.Sprintf(": all are %v", c.codes[0])
	}
	r.Details = []string{j.inputs(), fmt.Sprintf("worst at %s%s: the code is %v, (%v − %.0f) · %.4g + %.4g = %s, and %s is %s there",
		t.Name, strings.ReplaceAll(tensor.ShapeString(tensor.Index(t.Shape, worst)), ", ", "]["), c.codes[worst], c.codes[worst], c.zero(worst), c.scale(worst), c.centre(worst),
		judge.Number(c.value(worst)), c.name, judge.Number(float64(x[worst])))}
	return r, false
}

func allSame(x []float32) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// What codes may cost: so many times what the course's own do, which have the scales that the
// contract names; and where that is next to nothing, what rounding to float16 comes to.
const (
	dear  = 1.25
	cheap = 2e-3
)

// cost compares attention of the codes, and of the course's own, with that of the inputs.
func (j job) cost(got, own []float64) string {
	want := j.given().As(shared.Deviation{})
	is, need := far(got, want), far(own, want)
	if is.rms <= max(dear*need.rms, cheap) {
		return ""
	}
	return fmt.Sprintf("out follows from the codes, but they cost too much: against attention of the inputs their error is %v, and %v is what this format comes to", is, need)
}

// distance is how far an output is from another.
type distance struct{ cosine, l1, rms float64 }

func (d distance) String() string {
	return fmt.Sprintf("%.2g (1 − cosine %.2g, relative L1 %.2g)", d.rms, d.cosine, d.l1)
}

func far(got, want []float64) distance {
	var dot, gg, ww, l1, size, square float64
	for i, w := range want {
		g := got[i]
		dot, gg, ww = dot+g*w, gg+g*g, ww+w*w
		l1, size = l1+math.Abs(g-w), size+math.Abs(w)
		square += (g - w) * (g - w)
	}
	if ww == 0 {
		return distance{rms: math.Sqrt(gg)}
	}
	return distance{1 - dot/math.Sqrt(gg*ww), l1 / size, math.Sqrt(square / ww)}
}

// finite says which numbers of an output are none.
func finite(t *tensor.Tensor, name string) string {
	unwritten, bad, _ := judge.Census(t.Data)
	switch {
	case unwritten > 0:
		return fmt.Sprintf("%s: %d of %d numbers were never written", name, unwritten, len(t.Data))
	case bad > 0:
		return fmt.Sprintf("%s: %s", name, judge.NotNumbers(bad))
	}
	return ""
}

// keyRow is the row of k of a key that a row of q sees.
func keyRow(s shape, row, key int) int {
	head := row / s.SeqQ
	return (head/s.Heads*s.KVHeads+head%s.Heads/(s.Heads/s.KVHeads))*s.SeqK + key
}
