package b8

import (
	"fmt"
	"slices"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// lay puts weights into the order of fragments, to the bit.
var lay = judge.Op{
	Name:  "lay",
	Sizes: []string{"k", "n"},
	Rules: enough,
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		k, n := c.Sizes["k"], c.Sizes["n"]
		out = tensorsOf(k, padded(n), "laid ")
		for i := range out {
			out[i].Given = false
		}
		return tensorsOf(k, n, ""), out
	},
	Fault: func(c problem.Problem) string {
		c.Sizes = map[string]int{"rows": 1, "k": c.Sizes["k"]}
		return fault(c, true)
	},
	Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
		if c.Refused {
			return nil
		}
		w, err := trained(c, c.Sizes["k"], c.Sizes["n"])
		w.put(in)
		return err
	},
	Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		if c.Refused {
			before := [][]float32{}
			for _, t := range c.Outputs {
				before = append(before, untouched(t))
			}
			return judge.JudgeRefused(c, out, "Lay", fmt.Sprintf("K is %d, no multiple of %d", c.Sizes["k"], group), before...)
		}
		w := weightsOf(c.Sizes["k"], c.Sizes["n"], in[0].Data, in[1].Data, in[2].Data)
		return w.judgeLaid(out.Tensors)
	},
	Least:   judge.Once,
	Scratch: func(problem.Problem) uint64 { return 16 << 20 },
}

// untouched is what an output holds before a call: all bits are 1.
func untouched(t problem.Tensor) []float32 {
	x := judge.NoNumbers(t.Elements())
	if _, hasNaN := t.Type.Unwritten(); !hasNaN {
		for i := range x {
			x[i] = -1
		}
	}
	return x
}

// judgeLaid wants every bit.
func (w weights) judgeLaid(got []*tensor.Tensor) judge.Ruling {
	want := w.laid()
	codes := tensor.Int4.Encode(got[0].Data)
	for i, g := range codes {
		if g != want.codes[i] {
			return judge.Ruling{Reason: w.whyCodes(codes, want.codes), Details: []string{w.where(codes, want.codes, i)}}
		}
	}
	for i, name := range []string{"scales", "zeros"} {
		right := [][]float32{want.scales, want.zeros}[i]
		for at, g := range got[i+1].Data {
			if g != right[at] {
				return judge.Ruling{Reason: "the codes are right, but not the " + name + w.whyFactors(got[i+1].Data, right, i),
					Details: []string{fmt.Sprintf("first at number %d of the laid %s, which is of output %d: got %v, want %v", at, name, w.outputAt(at), g, right[at])}}
			}
		}
	}
	return judge.Ruling{Passed: true}
}

func (w weights) outputAt(at int) int {
	return at/(tall*(w.k/group))*tall + at%2*8 + at%tall/2
}

func (w weights) where(got, want []byte, i int) string {
	nibble := 2 * i
	if got[i]&15 == want[i]&15 {
		nibble++
	}
	tile, rest := nibble/(tall*w.k), nibble%(tall*w.k)
	return fmt.Sprintf("first at byte %d, which is in tile %d, piece %d, of lane %d, word %d: got code %d at bit %d, want %d", i, tile,
		rest/1024, rest/32%32, rest/8%4, got[i]>>(nibble%2*4)&15, nibble%8*4, want[i]>>(nibble%2*4)&15)
}

// whyCodes recognises orders that one gets by mistake.
func (w weights) whyCodes(got, want []byte) string {
	ordered := func(change func(k, o, i int) int) []byte { return w.laidBy(change, factorPlace).codes }
	within := func(change func(o, i int) (word, nibble int)) func(k, o, i int) int {
		return func(k, o, i int) int {
			word, nibble := change(o%tall, i%piece)
			return ((o/tall*(k/piece)+i/piece)*32+o%8*4+i%32/8)*32 + word*8 + nibble
		}
	}
	like := func(codes []byte, says string) judge.Mistake { return judge.Like(tensor.Int4.Decode(codes), says) }
	if says := judge.Exactly(tensor.Int4.Decode(got), tensor.Int4.Decode(want),
		like(w.laidBy(func(k, o, i int) int { return o*k + i }, factorPlace).codes, "the codes are copied as they are"),
		like(ordered(within(func(o, i int) (int, int) { word, n := placeInWord(o, i); return word, n ^ 1 })), "the halves of each byte are swapped: output g is in the low half, g + 8 in the high one"),
		like(ordered(within(func(o, i int) (int, int) { return i/32*2 + i%8/4, i%4*2 + o/8 })), "codes that are neighbours along k are neighbours in their word: they belong 16 bits apart"),
		like(ordered(within(func(o, i int) (int, int) { word, n := placeInWord(o, i); return word ^ 1, n })), "a lane's words are swapped: words 0 and 1 have numbers 8t to 8t + 3, and 8t + 4 to 8t + 7"),
		like(ordered(func(k, o, i int) int {
			word, nibble := placeInWord(o%tall, i%piece)
			return ((o/tall*(k/piece)+i/piece)*32+i%32/8*8+o%8)*32 + word*8 + nibble
		}), "lanes are numbered the wrong way: lane 4g + t has outputs g and g + 8")); says != "" {
		return says
	}
	wrong, behind, blank := 0, 0, 0
	for i := range got {
		if got[i] == want[i] {
			continue
		}
		wrong++
		if got[i] == 255 {
			blank++
		}
		if tile := 2 * i / (tall * w.k); w.n%tall != 0 && tile == w.n/tall {
			behind++
		}
	}
	switch {
	case !slices.ContainsFunc(got, func(b byte) bool { return b != 255 }):
		return "nothing was written: every byte is as it was before the call"
	case behind == wrong:
		return fmt.Sprintf("only the last tile is wrong, which has %d outputs: those behind the last one have codes of 0", w.n%tall)
	case blank == wrong:
		return fmt.Sprintf("%d of %d bytes seem never to have been written", wrong, len(got))
	}
	return fmt.Sprintf("%d of %d bytes of the laid codes are wrong", wrong, len(got))
}

// whyFactors says more of scales (0) and zeros (1).
func (w weights) whyFactors(got, want []float32, i int) string {
	flat := w.laidBy(place, func(k, o, g int) int { return (o/tall*(k/group)+g)*tall + o%tall })
	rows := w.laidBy(place, func(k, o, g int) int { return o*(k/group) + g })
	same := func(l weights) bool { return judge.Same32(got, [][]float32{l.scales, l.zeros}[i]) }
	switch {
	case same(flat) && !judge.Same32([][]float32{flat.scales, flat.zeros}[i], want):
		return ": those of outputs g and g + 8 of a tile are neighbours"
	case same(rows):
		return ": they are copied as they are"
	}
	return ""
}
