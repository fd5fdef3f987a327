package b3

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// blockFormat has one scale for each block of rows of a head of q, and of k, whose columns' means go
// first. v stays as it is.
type blockFormat struct{}

// block is how many rows share a scale, as the task's own files have it.
const block = 64

func blocks(rows int) int { return (rows + block - 1) / block }

func (blockFormat) outputs(s shape) []problem.Tensor {
	q, kv := []int{s.Batch, s.Heads, s.SeqQ, s.Dim}, []int{s.Batch, s.KVHeads, s.SeqK, s.Dim}
	return []problem.Tensor{{Name: "codes of q", Shape: q, Type: tensor.Int8}, {Name: "codes of k", Shape: kv, Type: tensor.Int8},
		{Name: "scales of q", Shape: []int{s.Batch, s.Heads, blocks(s.SeqQ)}}, {Name: "scales of k", Shape: []int{s.Batch, s.KVHeads, blocks(s.SeqK)}},
		{Name: "means of k", Shape: []int{s.Batch, s.KVHeads, s.Dim}}}
}

func (blockFormat) spans(s shape, from [3]int) ([]judge.Span, func(got [][]float32) []coding) {
	q, k := from[0], from[1]
	all := []judge.Span{{Output: 1, From: q, Size: s.Dim}, {Output: 2, From: k, Size: s.Dim},
		{Output: 3, From: scaleAt(q, s.SeqQ, s.Dim), Size: 1}, {Output: 4, From: scaleAt(k, s.SeqK, s.Dim), Size: 1},
		{Output: 5, From: k / s.Dim / s.SeqK * s.Dim, Size: s.Dim}}
	return all, func(got [][]float32) []coding {
		of := func(scale []float32) func(int) float64 { return func(int) float64 { return float64(scale[0]) } }
		return []coding{{name: "q", at: 1, codes: got[0], scale: of(got[2]), zero: none, centre: none},
			{name: "k", at: 2, codes: got[1], scale: of(got[3]), zero: none, centre: func(i int) float64 { return float64(got[4][i]) }}}
	}
}

// passes says how often each is read and written: q and k are read for their codes, which are
// written, and k for its means before.
func (blockFormat) passes() (q, k, v, value int) { return 2 + 1, 2 + 2 + 1, 0, 2 }

func (f blockFormat) encode(s shape, q, k, v []float32) codes {
	mean := make([]float32, s.Batch*s.KVHeads*s.Dim)
	sums := make([]float64, len(mean))
	for i, x := range k {
		sums[i/s.Dim/s.SeqK*s.Dim+i%s.Dim] += float64(x)
	}
	centred := make([]float32, len(k))
	for i := range mean {
		mean[i] = float32(sums[i] / float64(s.SeqK))
	}
	for i, x := range k {
		centred[i] = x - mean[i/s.Dim/s.SeqK*s.Dim+i%s.Dim]
	}
	qCodes, qScale := inBlocks(q, s.SeqQ, s.Dim)
	kCodes, kScale := inBlocks(centred, s.SeqK, s.Dim)
	return f.of(s, qCodes, kCodes, qScale, kScale, mean)
}

// inBlocks makes codes and scales of heads of so many rows.
func inBlocks(x []float32, rows, dim int) (codes, scales []float32) {
	heads, each := len(x)/rows/dim, blocks(rows)
	codes, scales = make([]float32, len(x)), make([]float32, heads*each)
	of := func(i int) int { return scaleAt(i, rows, dim) }
	for i, v := range x {
		scales[of(i)] = max(scales[of(i)], float32(math.Abs(float64(v))/127))
	}
	for i := range scales {
		if scales[i] == 0 {
			scales[i] = 1
		}
	}
	for i, v := range x {
		codes[i] = float32(max(min(math.RoundToEven(float64(v)/float64(scales[of(i)])), 127), -127))
	}
	return codes, scales
}

// scaleAt is which scale element i has, of heads of so many rows.
func scaleAt(i, rows, dim int) int { return i/dim/rows*blocks(rows) + i/dim%rows/block }

func (blockFormat) of(s shape, q, k, qScale, kScale, mean []float32) codes {
	ofQ := func(i int) float64 { return float64(qScale[scaleAt(i, s.SeqQ, s.Dim)]) }
	ofK := func(i int) float64 { return float64(kScale[scaleAt(i, s.SeqK, s.Dim)]) }
	root := math.Sqrt(float64(s.Dim))
	return codes{
		coded: []coding{{name: "q", at: 1, codes: q, scale: ofQ, zero: none, centre: none},
			{name: "k", at: 2, codes: k, scale: ofK, zero: none,
				centre: func(i int) float64 { return float64(mean[i/s.Dim/s.SeqK*s.Dim+i%s.Dim]) }}},
		score: func(row, key int) float64 {
			var sum float64
			at := keyRow(s, row, key) * s.Dim
			for x := range s.Dim {
				sum += float64(q[row*s.Dim+x]) * float64(k[at+x])
			}
			return sum * ofQ(row*s.Dim) * ofK(at) / root
		},
	}
}

func (f blockFormat) read(s shape, q, k, v []float32, out []*tensor.Tensor) (c codes, why string) {
	for i, name := range []string{"scales of q", "scales of k", "means of k"} {
		if why := finite(out[3+i], name); why != "" {
			return c, why
		}
		for at, x := range out[3+i].Data {
			if i < 2 && !(x > 0) {
				return c, fmt.Sprintf("%s: number %d is %v, and has to be above 0 (of a block of zeros any is right)", name, at, x)
			}
		}
	}
	return f.of(s, out[1].Data, out[2].Data, out[3].Data, out[4].Data, out[5].Data), ""
}

func (blockFormat) mistakes(j job, c codes) []judge.Mistake {
	q, k, v := c.coded[0], c.coded[1], j.v
	as := func(q, k []float32) func() []float64 {
		return func() []float64 { return shared.Mixed{S: j.s, Q: q, K: k, V: v}.As(shared.Deviation{}) }
	}
	// from takes another block's scale for each element, of a head of so many rows.
	from := func(c coding, rows int, other func(b int) int) []float32 {
		scale, each := c.scale, rows*j.s.Dim
		c.scale = func(i int) float64 {
			row := i % each / j.s.Dim
			return scale(i/each*each + min(other(row/block)*block, rows-1)*j.s.Dim)
		}
		c.centre = none // the same for all keys of a row
		return c.values()
	}
	bare := func(c coding) []float32 { c.scale, c.centre = func(int) float64 { return 1 }, none; return c.values() }
	first := func(int) int { return 0 }
	all := []judge.Mistake{
		judge.Wrong(as(bare(q), k.values()), scaleless),
		judge.Wrong(as(q.values(), bare(k)), scaleless),
		judge.Wrong(as(bare(q), bare(k)), scaleless),
	}
	if j.s.SeqK > block {
		all = append(all, judge.Wrong(as(q.values(), from(k, j.s.SeqK, first)), "every tile of keys has the scale of the head's first block: each block of 64 keys has its own"),
			judge.Wrong(as(q.values(), from(k, j.s.SeqK, func(b int) int { return b ^ 1 })), "each block of 64 keys has its neighbour's scale"))
	}
	if j.s.SeqQ > block {
		all = append(all, judge.Wrong(as(from(q, j.s.SeqQ, first), k.values()), "all queries have the scale of the head's first block: each 64 of them have their own"),
			judge.Wrong(as(from(q, j.s.SeqQ, func(b int) int { return b &^ 1 }), k.values()), "128 queries share a scale: each 64 of them have their own"))
	}
	return all
}

func (blockFormat) blames(j job, c, own codes) string {
	s, centre, mean := j.s, c.coded[1].centre, own.coded[1].centre
	var off, size, most float64
	for head := range s.Batch * s.KVHeads {
		for x := range s.Dim {
			i := head*s.SeqK*s.Dim + x
			off, size, most = max(off, math.Abs(centre(i)-mean(i))), max(size, math.Abs(centre(i))), max(most, math.Abs(mean(i)))
		}
	}
	switch {
	case size == 0:
		return "the means of k are all 0, so outliers take up the codes' range"
	case off > 0.05*max(most, 1e-3):
		return "the means of k are not those of its columns over a head's keys"
	}
	for i, t := range c.coded {
		for at := 0; at < len(t.codes); at += s.Dim {
			if times := t.scale(at) / own.coded[i].scale(at); times > 1.02 {
				return fmt.Sprintf("the scale of %s is %.2f times as large as its block needs, at row %d", t.name, times, at/s.Dim)
			}
		}
	}
	return ""
}
