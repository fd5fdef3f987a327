package worker

import (
	"fmt"

	"flashlab/device"
	"flashlab/grader/grading/wire"
	"flashlab/tensor"
)

// baseline makes what is compared with, for the buffers of one run: what it needs
// besides is prepared before the time is taken.
type baseline func(out, in Places) (func() error, error)

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
		return s.unfused(s.Attention(), tensor.Float32)
	case "halves_float16", "halves_bfloat16", "int8_tensor", "int8_block":
		return s.besideCodes(s.unfused(s.Attention(), s.Inputs[0].Type))
	case "project_nf4", "project_mxfp4", "qkv_float16", "qkv_bfloat16", "row", "rows":
		return s.unpacked(s.Inputs[0].Type)
	case "decode_float16", "decode_bfloat16":
		return s.unfusedStep(s.Decode(), s.Inputs[0].Type)
	case "decode", "decode_window", "split": // all slots are read, whatever the window
		return s.unfusedStep(s.Decode(), tensor.Float32)
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

// findWide is the same way in float32, beside which operations on narrower tensors are shown as well; the error
// says why there is none.
func (s *timedCase) findWide() (baseline, error) {
	if s.bench == nil {
		return nil, device.ErrNoClock
	}
	switch s.Op {
	case "halves_float16", "halves_bfloat16", "int8_tensor", "int8_block":
		return s.widened(func() (baseline, error) { return s.unfused(s.Attention(), tensor.Float32) })
	case "decode_float16", "decode_bfloat16":
		return s.widened(func() (baseline, error) { return s.unfusedStep(s.Decode(), tensor.Float32) })
	case "project_nf4", "project_mxfp4", "qkv_float16", "qkv_bfloat16", "row", "rows":
		return s.unpacked(tensor.Float32)
	}
	return nil, fmt.Errorf("the operation %q has no baseline in float32 besides its own", s.Op)
}
