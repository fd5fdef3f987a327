package task5

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

func TestAWindowsMistakesAreNamed(t *testing.T) {
	p := judgetest.Prepare(t, decodeWindow, judge.Spec{Shape: []int{3, 6, 2, 150, 9, 70}, Each: []int{140, 130, 50}, Dist: tensor.Normal}, 3)
	d := decodingOf(p)
	right := exactly(d)
	assert.True(t, p.Judge(t, right).Passed)
	for i, m := range d.Mistakes() {
		if i > 6 && !differs(m, right) {
			continue
		}
		if i == 7 { // the same as a window that is off by one
			continue
		}
		p.Says(t, m.Says, judgetest.Shown(m))
	}
	plain := judgetest.Prepare(t, decodeStep, judge.Spec{Shape: []int{1, 1, 1, 9, 4}, Each: []int{7}, Dist: tensor.Normal}, 3)
	for _, m := range decodingOf(plain).Mistakes() {
		assert.NotContains(t, m.Says, "window", "where there is none")
	}
}

func TestAWindowIsOfTheLastSlots(t *testing.T) {
	in := judge.Spec{Shape: []int{2, 2, 1, 20, 3, 4}, Each: []int{20, 3}, Dist: tensor.Normal}
	p := judgetest.Prepare(t, decodeWindow, in, 5)
	d := decodingOf(p)
	assert.Equal(t, []int{16 * 3, 17 * 3, 18 * 3, 19 * 3}, shared.CacheRows(d.S, d.Lengths)(0, 1))
	assert.Equal(t, []int{60, 63, 66}, shared.CacheRows(d.S, d.Lengths)(1, 0), "all of a sequence that is shorter")
	assert.Equal(t, uint64(4*(2*2*2*3+2*(4+3)*3)), decodeWindow.Least(p.C))
	whole := exactly(d)
	for row := range len(whole) / 3 {
		// In a timed case the lengths are those of the cache, and so are all numbers.
		c := p.C
		c.Each = []int{20, 20}
		full := decoding{S: d.S, Lengths: c.Each, Q: d.Q}
		for i, to := range []*[]float32{&full.K, &full.V} {
			*to = judge.InputPart(c, i+1, 0, 2*20*3)
		}
		assert.InDeltaSlice(t, exactly(full)[row*3:row*3+3], decodeWindow.Timed.Truth(c, row*3).Want, 1e-6)
	}
}

func TestFloat32PassesAWindowAndLessDoesNot(t *testing.T) {
	for _, s := range []judge.Spec{
		{Shape: []int{1, 1, 1, 2, 1, 1}, Each: []int{2}, Dist: tensor.Normal},
		{Shape: []int{3, 2, 2, 113, 33, 50}, Each: []int{113, 1, 64}, Dist: tensor.Normal},
		{Shape: []int{1, 4, 1, 600, 16, 500}, Each: []int{599}, Dist: tensor.Normal},
		{Shape: []int{2, 2, 2, 257, 32, 40}, Each: []int{257, 200}, Dist: tensor.Large},
	} {
		for seed := range uint64(3) {
			p := judgetest.Prepare(t, decodeWindow, s, seed)
			d := decodingOf(p)
			for _, a := range judgetest.Honest {
				v := p.Judge(t, rounds(d, a))
				assert.True(t, v.Passed, "%s %v seed %d: %v", a.Name, s, seed, v)
			}
			if s.Dist != tensor.Normal || d.S.Dim == 1 {
				continue
			}
			for _, a := range judgetest.Dishonest {
				assert.False(t, p.Judge(t, rounds(d, a)).Passed, "%s %v seed %d", a.Name, s, seed)
			}
		}
	}
}
