package gpt2

import (
	"fmt"
	"io/fs"
	"slices"

	"flashlab/tensor"
)

// Head is one head of one layer, as export_gpt2.py --layer and --head writes it:
// small enough to follow by hand.
type Head struct {
	Layer, Head int
	// WQ, WK and WV are [Width, Dim], the biases [Dim]: q = x·WQ + BQ.
	WQ, WK, WV, BQ, BK, BV *tensor.Tensor
	// X [seq, Width] is what reaches the layer's attention for some text, and
	// Y [seq, Dim] what PyTorch makes of it: softmax(q·kᵀ/√Dim)·v, causal.
	X, Y *tensor.Tensor
}

// OpenHead reads one head.
func OpenHead(dir fs.FS) (*Head, error) {
	m, err := readMetadata(dir, "head")
	if err != nil {
		return nil, err
	}
	s, closer, err := m.open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer() }()
	h := &Head{Layer: m.Layer, Head: m.Head}
	for _, part := range []struct {
		name string
		to   **tensor.Tensor
	}{{"wq", &h.WQ}, {"wk", &h.WK}, {"wv", &h.WV}, {"bq", &h.BQ}, {"bk", &h.BK}, {"bv", &h.BV}, {"x", &h.X}, {"y", &h.Y}} {
		shape, ok := s.shape(part.name)
		if !ok {
			return nil, fmt.Errorf("%s: %s is missing; there are %s", metadataFile, part.name, some(s.names()))
		}
		data, err := s.read(part.name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		*part.to = &tensor.Tensor{Shape: shape, Data: data}
	}
	return h, h.check()
}

func (h *Head) check() error {
	if len(h.WQ.Shape) != 2 || len(h.X.Shape) != 2 {
		return fmt.Errorf("wq is %s and x %s: want [width, dim] and [seq, width]", tensor.ShapeString(h.WQ.Shape), tensor.ShapeString(h.X.Shape))
	}
	seq, width, dim := h.X.Shape[0], h.WQ.Shape[0], h.WQ.Shape[1]
	if min(seq, width, dim) < 1 {
		return fmt.Errorf("x is %s and wq %s: no size may be 0", tensor.ShapeString(h.X.Shape), tensor.ShapeString(h.WQ.Shape))
	}
	for _, part := range []struct {
		name string
		t    *tensor.Tensor
		want []int
	}{
		{"x", h.X, []int{seq, width}}, {"y", h.Y, []int{seq, dim}},
		{"wk", h.WK, []int{width, dim}}, {"wv", h.WV, []int{width, dim}},
		{"bq", h.BQ, []int{dim}}, {"bk", h.BK, []int{dim}}, {"bv", h.BV, []int{dim}},
	} {
		if !slices.Equal(part.t.Shape, part.want) {
			return fmt.Errorf("%s is %s, want %s", part.name, tensor.ShapeString(part.t.Shape), tensor.ShapeString(part.want))
		}
	}
	return nil
}
