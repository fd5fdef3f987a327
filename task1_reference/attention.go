package reference

import (
	"flashlab/attn"
	"flashlab/tensor"
)

// Each function below is one step of attention, with its own check and its own
// points. They all follow the same rules:
//   - a tensor's Data is row-major: the last dimension is contiguous;
//   - the result is a new tensor, and the arguments are left unchanged;
//   - if shapes do not fit together, return an error and never panic (no
//     dimension is 0, and Data always fills Shape).

// SplitHeads turns x [batch, seq, hidden] into [batch, heads, seq, dim], where
// dim = hidden / heads. Head 0 gets the first dim of each position's hidden
// values, head 1 the next dim, and so on. heads must divide hidden.
//
// About 15 lines.
func SplitHeads(x *tensor.Tensor, heads int) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Scores computes how well each query matches each key. For q [batch, heads, seqQ,
// dim] and k [batch, heads, seqK, dim] the result is [batch, heads, seqQ, seqK].
// Each score is the dot product of a query and a key, divided by √dim.
//
// About 15 lines.
func Scores(q, k *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Mask hides the future: in scores [batch, heads, seqQ, seqK] it replaces every
// score of a key that comes after its query with -Inf. The last query is aligned
// with the last key, so query i sees the keys 0 … i + seqK - seqQ. seqQ is at
// most seqK, so each query sees at least one key.
//
// About 15 lines.
func Mask(scores *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Softmax turns each row of scores [batch, heads, seqQ, seqK], along the last
// dimension, into weights that add up to 1. Scores may be as large as float32
// allows, and -Inf means 'no weight at all'. No row consists of -Inf alone.
//
// About 20 lines.
func Softmax(scores *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// WeightedSum mixes values. For weights [batch, heads, seqQ, seqK] and
// v [batch, heads, seqK, dim] the result is [batch, heads, seqQ, dim]. Row i of
// a head is the sum of that head's rows of v, each times its weight for i.
//
// About 15 lines.
func WeightedSum(weights, v *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// MergeHeads undoes SplitHeads: x [batch, heads, seq, dim] becomes [batch, seq,
// heads × dim].
//
// About 15 lines.
func MergeHeads(x *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Attention combines all the steps: q [batch, seqQ, hidden] against k and v
// [batch, seqK, hidden], split into heads, with the mask if causal. The result
// has q's shape.
//
// About 30 lines, most of which pass errors on.
func Attention(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}
