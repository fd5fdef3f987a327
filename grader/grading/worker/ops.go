package worker

import (
	"flashlab/attn"
	"flashlab/grader/grading/problem"
)

// Softmax is the operation of that name.
func Softmax[T attn.Softmaxer](m *Made[T]) Op {
	return OnDevice(m, func(it T, c problem.Problem, out, in Buffers) error {
		return it.Softmax(out[0], in[0], c.Softmax())
	})
}

// Gemm is a matrix product, with b transposed or not.
func Gemm[T attn.Unfused](m *Made[T], transB bool) Op {
	return OnDevice(m, func(it T, c problem.Problem, out, in Buffers) error {
		return it.Gemm(out[0], in[0], in[1], c.Gemm(transB))
	})
}

// Attention is an attention, fused or not.
func Attention[T attn.Kernel](m *Made[T]) Op {
	return OnDevice(m, func(it T, c problem.Problem, out, in Buffers) error {
		return it.Run(out[0], in[0], in[1], in[2], c.Attention())
	})
}
