// Command task1 runs a submission of task 1 for the grader.
package main

import (
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/worker"
	reference "flashlab/task1_reference"
	"flashlab/tensor"
)

type tensors = []*tensor.Tensor

func main() {
	worker.Main(map[string]worker.Op{
		"split_heads": worker.OnTensors("SplitHeads", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.SplitHeads(in[0], c.Sizes["heads"])
		}),
		"scores": worker.OnTensors("Scores", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.Scores(in[0], in[1])
		}),
		"mask": worker.OnTensors("Mask", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.Mask(in[0])
		}),
		"softmax_rows": worker.OnTensors("Softmax", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.Softmax(in[0])
		}),
		"weighted_sum": worker.OnTensors("WeightedSum", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.WeightedSum(in[0], in[1])
		}),
		"merge_heads": worker.OnTensors("MergeHeads", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.MergeHeads(in[0])
		}),
		"multihead": worker.OnTensors("Attention", func(c problem.Problem, in tensors) (*tensor.Tensor, error) {
			return reference.Attention(in[0], in[1], in[2], c.Sizes["heads"], c.Causal)
		}),
	})
}
