package backward

import (
	"math"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

// threads of a block of pairs, all of one query.
const threads = 64

// Backward holds the kernels, by the head's dimension.
type Backward struct {
	queue device.Queue
	by    map[int]kernels
}

type kernels struct{ pairs, keys, queries device.Kernel }

// New compiles the kernels for one device.
func New(q device.Queue) (*Backward, error) {
	t := &Backward{queue: q, by: map[int]kernels{}}
	for _, dim := range []int{64, 128} {
		src := Source
		src.Defines = map[string]string{"DIM": strconv.Itoa(dim)}
		m, err := q.Compile(src)
		if err != nil {
			return nil, err
		}
		var k kernels
		for name, to := range map[string]*device.Kernel{"pairs": &k.pairs, "keys": &k.keys, "queries": &k.queries} {
			if *to, err = m.Kernel(name); err != nil {
				return nil, err
			}
		}
		t.by[dim] = k
	}
	return t, nil
}

// Float32 writes the gradients of a loss by q, k and v. P and dS are allocated and freed by the call.
func (t *Backward) Float32(to Gradients[float32], from Forward[float32], dOut device.Buffer[float32], s attn.Shape) (err error) {
	if err := Check(to, from, dOut, s); err != nil {
		return err
	}
	rows := s.Batch * s.Heads * s.SeqQ
	var pair [2]device.Memory // P and dS
	for i, name := range []string{"P", "dS"} {
		if pair[i], err = t.queue.Malloc(name, 4*int64(rows)*int64(s.SeqK)); err != nil {
			return err
		}
		defer func() { _ = t.queue.Free(pair[i]) }()
	}
	p, _ := device.BufferOf[float32](pair[0]) // whole numbers by their making
	dS, _ := device.BufferOf[float32](pair[1])
	k, scale, group := t.by[s.Dim], 1/math.Sqrt(float64(s.Dim)), s.Heads/s.KVHeads

	all := device.Launch{Grid: device.D2((s.SeqK+threads-1)/threads, rows), Block: device.D1(threads)}
	err = t.queue.Launch(k.pairs, all, from.Q, from.K, from.V, from.Out, from.LSE, dOut, p, dS, s.SeqQ, s.SeqK, group, s.Causal, scale)
	if err != nil {
		return err
	}
	own := func(rows, heads int) device.Launch {
		return device.Launch{Grid: device.D2(rows, heads), Block: device.D1(s.Dim)}
	}
	err = t.queue.Launch(k.keys, own(s.SeqK, s.Batch*s.KVHeads), from.Q, dOut, p, dS, to.DK, to.DV, s.SeqQ, s.SeqK, group, scale)
	if err != nil {
		return err
	}
	return t.queue.Launch(k.queries, own(s.SeqQ, s.Batch*s.Heads), from.K, dS, to.DQ, s.SeqQ, s.SeqK, group, scale)
}
