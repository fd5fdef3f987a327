package worker

import (
	"errors"
	"math"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

// mostScores bounds the bytes of scores that unfused attention holds at a time: the
// heads go in chunks, for all scores of a large batch would fill the device.
const mostScores = 8 << 30

// unfused is attention in three steps: scores, softmax, sum. Scores are in float32; of tensors in halves the
// probabilities are halves, as the second product takes them.
func (s *timedCase) unfused(a attn.Shape, ty tensor.Type) (baseline, error) {
	if a.Heads != a.KVHeads {
		return nil, errors.New("the baseline wants as many key heads as query heads")
	}
	heads := a.Batch * a.Heads
	each := int64(a.SeqQ) * int64(a.SeqK)
	chunk := int(min(max(mostScores/(each*probabilityBytes(ty)), 1), int64(heads)))
	scores, weights, err := s.scores(int64(chunk)*each, ty)
	if err != nil {
		return nil, err
	}
	one := func(m device.Memory, size, head, n int) device.Memory {
		m.Addr += uint64(ty.Bytes(head * size))
		m.Bytes = int64(ty.Bytes(n * size))
		return m
	}
	queries, keys := a.SeqQ*a.Dim, a.SeqK*a.Dim
	scale := float32(1 / math.Sqrt(float64(a.Dim)))
	run := func(out, in Places) error {
		for head := 0; head < heads; head += chunk {
			n := min(chunk, heads-head)
			part, made := scores, weights
			part.Bytes, made.Bytes = 4*int64(n)*each, int64(n)*each*int64(ty.Bytes(1))
			first := device.Dense(n, a.SeqQ, a.SeqK, a.Dim, true, scale)
			first.Type = ty
			if err := s.bench.Multiply(part, one(in[0], queries, head, n), one(in[1], keys, head, n), first); err != nil {
				return err
			}
			if err := s.gauge.softmaxRows(made, part, ty, n*a.SeqQ, mask{a.SeqQ, a.SeqK, a.Causal, a.Window}); err != nil {
				return err
			}
			second := device.Dense(n, a.SeqQ, a.Dim, a.SeqK, false, 1)
			second.Type, second.Out = ty, ty
			if err := s.bench.Multiply(one(out[0], queries, head, n), made, one(in[2], keys, head, n), second); err != nil {
				return err
			}
		}
		return nil
	}
	return func(out, in Places) (func() error, error) {
		return func() error { return run(out, in) }, nil
	}, nil
}

// probabilityBytes are what a score takes, and what is made of it where that is in a place of its own.
func probabilityBytes(ty tensor.Type) int64 {
	if ty == tensor.Float32 {
		return 4
	}
	return 4 + int64(ty.Bytes(1))
}

// scores has room for so many, and for probabilities: the same room where these are in float32.
func (s *timedCase) scores(n int64, ty tensor.Type) (scores, weights device.Memory, err error) {
	if scores, err = s.malloc("the baseline's scores", 4*n); err != nil || ty == tensor.Float32 {
		return scores, scores, err
	}
	weights, err = s.malloc("the baseline's probabilities", n*int64(ty.Bytes(1)))
	return scores, weights, err
}

// mask says which of keys a row of scores sees, and of how many queries a head has. A window of 0 is none.
type mask struct {
	queries, keys int
	causal        bool
	window        int
}

// softmaxRows normalises rows of scores, into the same place where the probabilities are in float32.
func (g *gauge) softmaxRows(to, scores device.Memory, ty tensor.Type, rows int, m mask) error {
	from, err := device.BufferOf[float32](scores)
	if err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1(rows), Block: device.D1(gaugeBlock)}
	if ty == tensor.Float32 {
		return g.d.Launch(g.softmax, l, from, 0, m.queries, m.keys, m.causal, m.window)
	}
	narrow, err := device.BufferOf[uint8](to)
	if err != nil {
		return err
	}
	return g.d.Launch(g.softmaxNarrow, l, narrow, from, m.queries, m.keys, m.causal, m.window, ty == tensor.BFloat16)
}

// unfusedStep is the same for one query of each sequence against a full cache. The
// keys of one head are apart from each other, so each product has its own address;
// query heads that share a key head are one product.
func (s *timedCase) unfusedStep(d attn.DecodeShape, ty tensor.Type) (baseline, error) {
	n, group := d.Batch*d.KVHeads, d.Heads/d.KVHeads
	scores, weights, err := s.scores(int64(n)*int64(group)*int64(d.MaxSeq), ty)
	if err != nil {
		return nil, err
	}
	var at [2]device.Buffer[uint64]
	for i := range at {
		if at[i], err = device.Alloc[uint64](s.Device, "the baseline's addresses", 3*n); err != nil {
			return nil, err
		}
		s.held = append(s.held, at[i].Memory())
	}
	first := device.Product{Batch: n, M: group, N: d.MaxSeq, K: d.Dim, TransB: true, Scale: float32(1 / math.Sqrt(float64(d.Dim))),
		RowA: d.Dim, RowB: d.Slot(), RowC: d.MaxSeq, Type: ty}
	second := device.Product{Batch: n, M: group, N: d.Dim, K: d.MaxSeq, Scale: 1, RowA: d.MaxSeq, RowB: d.Slot(), RowC: d.Dim, Type: ty, Out: ty}
	bytes := func(elements int) uint64 { return uint64(ty.Bytes(elements)) }
	return func(out, in Places) (func() error, error) {
		tables := [2][]uint64{make([]uint64, 3*n), make([]uint64, 3*n)}
		for i := range n {
			b, head := i/d.KVHeads, i%d.KVHeads
			q, cached := bytes(i*group*d.Dim), bytes(b*d.MaxSeq*d.Slot()+head*d.Dim)
			place := i * group * d.MaxSeq
			tables[0][i], tables[0][n+i], tables[0][2*n+i] = scores.Addr+4*uint64(place), in[0].Addr+q, in[1].Addr+cached
			tables[1][i], tables[1][n+i], tables[1][2*n+i] = out[0].Addr+q, weights.Addr+bytes(place), in[2].Addr+cached
		}
		for i := range at {
			if err := at[i].CopyIn(s.Device, tables[i]); err != nil {
				return nil, err
			}
		}
		return func() error {
			if err := s.bench.MultiplyAt(at[0], first); err != nil {
				return err
			}
			if err := s.gauge.softmaxRows(weights, scores, ty, n*group, mask{1, d.MaxSeq, false, d.Window}); err != nil {
				return err
			}
			return s.bench.MultiplyAt(at[1], second)
		}, nil
	}, nil
}
