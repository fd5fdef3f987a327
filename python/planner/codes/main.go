// Command codes plans calls of bonus task b3: attention by way of 8-bit codes, which are scratch of the call.
package main

import (
	codes "flashlab/bonus/b3_int8"
	"flashlab/device"
	"flashlab/python/planner/plans"
)

func main() {
	plans.Serve(map[string]plans.Op{"int8_attention": attention})
}

func attention(c *plans.Call) error {
	s := plans.Attention(c)
	t, err := codes.New(c.Queue)
	if err != nil {
		return err
	}
	qs, kvs := plans.Tensors[device.Float16](c, s.QElements(), "out", "q"), plans.Tensors[device.Float16](c, s.KVElements(), "k", "v")
	scratch := room{queue: c.Queue}
	if c.Size("byBlock") != 0 {
		to := codes.BlockCodes{Q: scratch.codes("codes of q", s.QElements()), K: scratch.codes("codes of k", s.KVElements()),
			QScale: scratch.floats("scales of q", s.Batch*s.Heads*codes.Blocks(s.SeqQ)),
			KScale: scratch.floats("scales of k", s.Batch*s.KVHeads*codes.Blocks(s.SeqK)),
			Mean:   scratch.floats("means of k", s.Batch*s.KVHeads*s.Dim)}
		if scratch.err != nil {
			return scratch.err
		}
		return t.ByBlock(qs[0], qs[1], kvs[0], kvs[1], to, s)
	}
	to := codes.TensorCodes{Q: scratch.codes("codes of q", s.QElements()), K: scratch.codes("codes of k", s.KVElements()),
		V: scratch.codes("codes of v", s.KVElements()), Affine: scratch.floats("scales and zeros", 6)}
	if scratch.err != nil {
		return scratch.err
	}
	return t.PerTensor(qs[0], qs[1], kvs[0], kvs[1], to, s)
}

// room allocates, and keeps the first error.
type room struct {
	queue device.Queue
	err   error
}

func (r *room) codes(name string, n int) device.Buffer[int8]     { return alloc[int8](r, name, n) }
func (r *room) floats(name string, n int) device.Buffer[float32] { return alloc[float32](r, name, n) }

func alloc[T device.Scalar](r *room, name string, n int) device.Buffer[T] {
	b, err := device.Alloc[T](r.queue, name, n)
	if r.err == nil {
		r.err = err
	}
	return b
}
