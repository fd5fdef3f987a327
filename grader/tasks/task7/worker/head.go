package main

import (
	"fmt"
	"os"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/tasks/talk"
	"flashlab/nn/gpt2"
	"flashlab/tensor"
)

// compareHead runs one head of a model, as PyTorch wrote it out, on the prefill
// kernel.
func (c choices) compareHead() error {
	h, err := gpt2.OpenHead(os.DirFS(c.head))
	if err != nil {
		return fmt.Errorf("HEAD=%s: %w", c.head, err)
	}
	d, err := talk.OpenDevice(c.device)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	_, k, about, err := c.parts(device.QueueOf(d))
	if err != nil {
		return talk.Advice(err)
	}
	got, err := runHead(d, k.own.Prefill, h)
	if err != nil {
		return talk.Advice(err)
	}
	want := make([]float64, len(h.Y.Data))
	for i, v := range h.Y.Data {
		want[i] = float64(v)
	}
	diff := tensor.Compare(got, want)
	fmt.Printf("head %d of layer %d on %s, with %s: y %s\n", h.Head, h.Layer, d.Info().Name, about, tensor.ShapeString(h.Y.Shape))
	fmt.Printf("RMS difference from PyTorch: %.2g of the RMS\n", diff.RMS/diff.WantRMS)
	if !diff.Within(1e-3 * diff.WantRMS) {
		return fmt.Errorf("that is too much: worst at y%v, got %g, want %g", tensor.Index(h.Y.Shape, diff.Worst), diff.Got, diff.Want)
	}
	return nil
}

// runHead projects on this machine's processor, and attends on the device.
func runHead(d device.Device, kernel attn.Kernel, h *gpt2.Head) ([]float32, error) {
	seq, dim := h.X.Shape[0], h.WQ.Shape[1]
	var in []device.Buffer[float32]
	for _, p := range []struct {
		name string
		w, b *tensor.Tensor
	}{{"q", h.WQ, h.BQ}, {"k", h.WK, h.BK}, {"v", h.WV, h.BV}} {
		b, err := device.Upload(d, p.name, project(h.X, p.w, p.b))
		if err != nil {
			return nil, err
		}
		in = append(in, b)
	}
	out, err := device.Alloc[float32](d, "out", seq*dim)
	if err != nil {
		return nil, err
	}
	if err := d.Poison(out.Memory()); err != nil {
		return nil, err
	}
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: seq, SeqK: seq, Dim: dim, Causal: true}
	if err := kernel.Run(out, in[0], in[1], in[2], s); err != nil {
		return nil, err
	}
	return out.CopyOut(d)
}

// project is x [seq, width] · w [width, dim] + b [dim].
func project(x, w, b *tensor.Tensor) []float32 {
	seq, width, dim := x.Shape[0], w.Shape[0], w.Shape[1]
	y := make([]float32, seq*dim)
	for i := range seq {
		for j := range dim {
			sum := float64(b.Data[j])
			for n := range width {
				sum += float64(x.Data[i*width+n]) * float64(w.Data[n*dim+j])
			}
			y[i*dim+j] = float32(sum)
		}
	}
	return y
}
