package reference

import (
	"flashlab/attn"
	"flashlab/tensor"
)

// Each function below is one step of attention, with a check and points of its
// own. They all keep to the same rules:
//   - a tensor's Data is row-major: the last dimension lies in one piece;
//   - the result is a new tensor, and the arguments stay as they are;
//   - shapes that do not fit together are answered with an error, never with a
//     panic (no dimension is 0, and Data always fills Shape).

// SplitHeads turns x [batch, seq, hidden] into [batch, heads, seq, dim], where
// dim = hidden / heads. Of each position's hidden values, head 0 gets the first
// dim, head 1 the next dim, and so on. heads must divide hidden.
//
// About 15 lines.
func SplitHeads(x *tensor.Tensor, heads int) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Scores says how well each query matches each key: for q [batch, heads, seqQ,
// dim] and k [batch, heads, seqK, dim] the result is [batch, heads, seqQ, seqK].
// Each score is the dot product of a query and a key, divided by √dim.
//
// About 15 lines.
func Scores(q, k *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Mask hides the future: in scores [batch, heads, seqQ, seqK] it replaces by
// -Inf every score of a key that comes after its query. The last query stands
// beside the last key, so query i sees the keys 0 … i + seqK - seqQ. seqQ is at
// most seqK, so that each query sees at least one key.
//
// About 15 lines.
func Mask(scores *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// Softmax turns each row of scores [batch, heads, seqQ, seqK], along the last
// dimension, into weights that add up to 1. Scores may be as large as float32
// allows, and -Inf stands for 'no weight at all'; no row holds -Inf alone.
//
// About 20 lines.
func Softmax(scores *tensor.Tensor) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}

// WeightedSum mixes values: for weights [batch, heads, seqQ, seqK] and
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

// Attention is all of it: q [batch, seqQ, hidden] against k and v [batch, seqK,
// hidden], in so many heads, with the mask if causal. The result has q's shape.
//
// About 30 lines, most of them errors passed on.
func Attention(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error) {
	return nil, attn.ErrNotImplemented
}
