package worker

import (
	"errors"
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/wire"
	"flashlab/tensor"
)

// baseline makes what is compared with, for the buffers of one run: what it needs
// besides is prepared before the time is taken.
type baseline func(out, in Places) (func() error, error)

// mostScores bounds the bytes of scores that unfused attention holds at a time: the
// heads go in chunks, for all scores of a large batch would fill the device.
const mostScores = 8 << 30

// findBaseline is the unfused way through the vendor's library; the error says why
// there is none.
func (s *timedCase) findBaseline() (baseline, error) {
	if s.own != nil {
		return func(out, in Places) (func() error, error) {
			return func() error { return s.own(out, in) }, nil
		}, nil
	}
	if s.bench == nil {
		return nil, device.ErrNoClock
	}
	about, err := s.bench.Library()
	if err != nil {
		return nil, err
	}
	s.ready.Library = about
	switch s.Op {
	case "gemm_nn", "gemm_nt":
		g := s.Gemm(s.Op == "gemm_nt")
		return func(out, in Places) (func() error, error) {
			p := device.Dense(g.Batch, g.M, g.N, g.K, g.TransB, 1)
			return func() error {
				return s.bench.Multiply(out[0], in[0], in[1], p)
			}, nil
		}, nil
	case "attention", "flash", "flash_window": // all scores are computed, whatever the mask
		return s.unfused(s.Attention())
	case "halves_float16", "halves_bfloat16", "int8_tensor", "int8_block":
		return s.widened(func() (baseline, error) { return s.unfused(s.Attention()) })
	case "project_nf4", "project_mxfp4", "qkv_float16", "qkv_bfloat16":
		z := s.Sizes
		return s.unpacked(z["batch"]*z["seq"], z["hidden"], (z["heads"]+2*z["kvheads"])*z["dim"])
	case "row", "rows":
		return s.unpacked(s.Sizes["rows"], s.Sizes["k"], s.Sizes["n"])
	case "decode_float16", "decode_bfloat16":
		return s.widened(func() (baseline, error) { return s.unfusedStep(s.Decode()) })
	case "decode", "decode_window", "split": // all slots are read, whatever the window
		return s.unfusedStep(s.Decode())
	case "decode_int8", "decode_int4":
		return s.onlyRead(2 * int64(tensor.Float16.Bytes(s.Decode().Elements())))
	case "softmax":
		return func(out, in Places) (func() error, error) {
			s.now.out = nil
			return s.self(wire.Copying, placed{in, out})
		}, nil
	}
	return nil, fmt.Errorf("the operation %q has no baseline", s.Op)
}

// onlyRead reads so many bytes, once: a cache of halves, of which no step of decoding can read less.
func (s *timedCase) onlyRead(bytes int64) (baseline, error) {
	halves, err := s.malloc("the baseline's cache", bytes)
	if err != nil {
		return nil, err
	}
	if err := s.Device.Set(halves, 0); err != nil { // as the kernel wants it
		return nil, err
	}
	return func(_, _ Places) (func() error, error) {
		s.now.out = nil // nothing is written there
		return func() error { return s.gauge.read(halves) }, nil
	}, nil
}

// unfused is attention in three steps: scores, softmax, sum.
func (s *timedCase) unfused(a attn.Shape) (baseline, error) {
	if a.Heads != a.KVHeads {
		return nil, errors.New("the baseline wants as many key heads as query heads")
	}
	heads := a.Batch * a.Heads
	perHead := 4 * int64(a.SeqQ) * int64(a.SeqK)
	chunk := int(min(max(mostScores/perHead, 1), int64(heads)))
	scores, err := s.malloc("the baseline's scores", int64(chunk)*perHead)
	if err != nil {
		return nil, err
	}
	one := func(m device.Memory, size, head, n int) device.Memory {
		m.Addr += 4 * uint64(head) * uint64(size)
		m.Bytes = 4 * int64(n) * int64(size)
		return m
	}
	queries, keys := a.SeqQ*a.Dim, a.SeqK*a.Dim
	scale := float32(1 / math.Sqrt(float64(a.Dim)))
	run := func(out, in Places) error {
		for head := 0; head < heads; head += chunk {
			n := min(chunk, heads-head)
			part := scores
			part.Bytes = int64(n) * perHead
			if err := s.bench.Multiply(part, one(in[0], queries, head, n), one(in[1], keys, head, n),
				device.Dense(n, a.SeqQ, a.SeqK, a.Dim, true, scale)); err != nil {
				return err
			}
			if err := s.gauge.softmaxRows(part, n*a.SeqQ, a.SeqQ, a.SeqK, a.Causal, a.Window); err != nil {
				return err
			}
			if err := s.bench.Multiply(one(out[0], queries, head, n), part, one(in[2], keys, head, n),
				device.Dense(n, a.SeqQ, a.Dim, a.SeqK, false, 1)); err != nil {
				return err
			}
		}
		return nil
	}
	return func(out, in Places) (func() error, error) {
		return func() error { return run(out, in) }, nil
	}, nil
}

// softmaxRows normalises rows of scores in place; a window of 0 is none.
func (g *gauge) softmaxRows(scores device.Memory, rows, queries, keys int, causal bool, window int) error {
	b, err := device.BufferOf[float32](scores)
	if err != nil {
		return err
	}
	return g.d.Launch(g.softmax, device.Launch{Grid: device.D1(rows), Block: device.D1(gaugeBlock)}, b, 0, queries, keys, causal, window)
}

// unfusedStep is the same for one query of each sequence against a full cache. The
// keys of one head are apart from each other, so each product has its own address;
// query heads that share a key head are one product.
func (s *timedCase) unfusedStep(d attn.DecodeShape) (baseline, error) {
	n, group := d.Batch*d.KVHeads, d.Heads/d.KVHeads
	scores, err := s.malloc("the baseline's scores", 4*int64(n)*int64(group)*int64(d.MaxSeq))
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
		RowA: d.Dim, RowB: d.Slot(), RowC: d.MaxSeq}
	second := device.Product{Batch: n, M: group, N: d.Dim, K: d.MaxSeq, Scale: 1, RowA: d.MaxSeq, RowB: d.Slot(), RowC: d.Dim}
	return func(out, in Places) (func() error, error) {
		tables := [2][]uint64{make([]uint64, 3*n), make([]uint64, 3*n)}
		for i := range n {
			b, head := i/d.KVHeads, i%d.KVHeads
			q := 4 * uint64(i*group*d.Dim)
			cached := 4 * uint64(b*d.MaxSeq*d.Slot()+head*d.Dim)
			score := scores.Addr + 4*uint64(i*group*d.MaxSeq)
			tables[0][i], tables[0][n+i], tables[0][2*n+i] = score, in[0].Addr+q, in[1].Addr+cached
			tables[1][i], tables[1][n+i], tables[1][2*n+i] = out[0].Addr+q, score, in[2].Addr+cached
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
			if err := s.gauge.softmaxRows(scores, n*group, 1, d.MaxSeq, false, d.Window); err != nil {
				return err
			}
			return s.bench.MultiplyAt(at[1], second)
		}, nil
	}, nil
}
