package ops

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// decodeStep is one step of decoding against a cache; each says how many slots of a
// sequence are filled. The others hold NaN.
var decodeStep = Op{
	Name:    "decode",
	Sizes:   []string{"batch", "heads", "kvheads", "slots", "dim"},
	Each:    "length",
	Rules:   attentionRules,
	Tensors: decodeTensors,
	Fault:   decodeFault,
	Prepare: fillCache,
	Judge: func(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
		return judgeDecode("Decode", c, in, out)
	},
	Least: leastDecode,
	Timed: timedDecode,
}

// decodeSplit is the same in parts.
var decodeSplit = Op{
	Name:    "split",
	Sizes:   []string{"batch", "heads", "kvheads", "slots", "dim", "parts"},
	Each:    "length",
	Rules:   attentionRules,
	Tensors: decodeTensors,
	Fault:   decodeFault,
	Prepare: fillCache,
	Judge: func(c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
		return judgeDecode("DecodeSplit", c, in, out)
	},
	Least: leastDecode,
	Timed: timedDecode,
}

// decodeTensors: as in an attention, the case's distribution is that of q alone.
func decodeTensors(c wire.Case) (in, out []wire.Tensor) {
	s := c.Decode()
	q, cache := []int{s.Batch, s.Heads * s.Dim}, []int{s.Batch, s.MaxSeq, s.Slot()}
	return []wire.Tensor{{Name: "q", Shape: q}, {Name: "cache.K", Shape: cache, Given: true}, {Name: "cache.V", Shape: cache, Given: true}},
		[]wire.Tensor{{Name: "out", Shape: q}}
}

func decodeFault(c wire.Case) string {
	s := c.Decode()
	if s.Heads%s.KVHeads != 0 {
		return fmt.Sprintf("%d query heads cannot share %d key heads evenly", s.Heads, s.KVHeads)
	}
	for b, length := range c.Each {
		switch {
		case length < 0:
			return fmt.Sprintf("the length of sequence %d is %d", b, length)
		case length == 0:
			return fmt.Sprintf("sequence %d has nothing in its cache: its length is 0", b)
		case length > s.MaxSeq:
			return fmt.Sprintf("the length of sequence %d is %d, and there are %d slots", b, length, s.MaxSeq)
		}
	}
	return ""
}

// fillCache fills the first slots of each sequence; the rest holds NaN, with other
// bits than what was never written.
func fillCache(c wire.Case, in []*tensor.Tensor) error {
	s := c.Decode()
	for i := 1; i < 3; i++ {
		if err := tensor.Fill(in[i].Data, tensor.Normal, c.Seed, c.Inputs[i].Stream, 0); err != nil {
			return err
		}
		for at := range in[i].Data {
			if token := at / s.Slot(); token%s.MaxSeq >= c.Each[token/s.MaxSeq] {
				in[i].Data[at] = float32(math.NaN())
			}
		}
	}
	return nil
}

// leastDecode: q, out, and the filled slots of each cache once, however many query
// heads share them.
func leastDecode(c wire.Case) uint64 {
	s := c.Decode()
	slots := 0
	for _, length := range c.Each {
		slots += length
	}
	return 4 * uint64(2*s.Batch*s.Heads*s.Dim+2*slots*s.Slot())
}

// decoding is a step with its inputs.
type decoding struct {
	s       attn.DecodeShape
	lengths []int
	q, k, v []float32
	parts   int // 0 where it is not split
}

func (d decoding) String() string {
	parts := ""
	if d.parts > 0 {
		parts = fmt.Sprintf(", in %d parts", d.parts)
	}
	return fmt.Sprintf("%v, lengths %v%s", d.s, d.lengths, parts)
}

func judgeDecode(call string, c wire.Case, in []*tensor.Tensor, out wire.Output) Verdict {
	got := out.Tensors[0].Data
	if c.Refused {
		return judgeRefused(c, out, call, decodeFault(c), noNumbers(len(got)))
	}
	d := decoding{c.Decode(), c.Each, in[0].Data, in[1].Data, in[2].Data, c.Sizes["parts"]}
	t := oracle.DecodeTruth(d.q, d.k, d.v, d.s, d.lengths)
	return judge(c, d, t, got, func(j oracle.Judgement) string { return d.pattern(t, got, j) })
}
