package plans

import (
	"flashlab/attn"
	"flashlab/device"
)

// Attention is the request's shape.
func Attention(c *Call) attn.Shape {
	return attn.Shape{Batch: c.Size("batch"), Heads: c.Size("heads"), KVHeads: c.Size("kvHeads"),
		SeqQ: c.Size("seqQ"), SeqK: c.Size("seqK"), Dim: c.Size("dim"), Causal: c.Size("causal") != 0}
}

// Decode is the request's shape, with the lengths of a full cache: the contract lets a grid depend on the
// shape alone, because lengths change while a recorded launch stays what it is.
func Decode(c *Call) (attn.DecodeShape, attn.PerSequence) {
	s := attn.DecodeShape{Heads: c.Size("heads"), CacheShape: attn.CacheShape{Batch: c.Size("batch"), MaxSeq: c.Size("maxSeq"), KVHeads: c.Size("kvHeads"), Dim: c.Size("dim")}}
	lengths := attn.PerSequence{Device: Tensor[int32](c, "lengths", s.Batch)}
	for range s.Batch {
		lengths.Host = append(lengths.Host, s.MaxSeq)
	}
	return s, lengths
}

// Tensors are buffers of one type, n elements each.
func Tensors[T device.Scalar](c *Call, n int, names ...string) (all []device.Buffer[T]) {
	for _, name := range names {
		all = append(all, Tensor[T](c, name, n))
	}
	return all
}
