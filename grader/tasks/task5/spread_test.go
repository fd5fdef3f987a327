package task5

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/tensor"
)

func TestPartsHaveBlocks(t *testing.T) {
	for _, c := range []struct {
		shape, each   []int
		blocks, bytes uint64
	}{
		{[]int{3, 2, 2, 113, 33, 5}, []int{113, 1, 6}, 30, 6 * 113 * 33},
		{[]int{2, 6, 2, 257, 16, 7}, []int{257, 130}, 28, 6 * 257 * 16},
		{[]int{1, 2, 1, 40, 1, 3}, []int{38}, 3, 0},
		{[]int{1, 2, 2, 3, 8, 8}, []int{3}, 6, 0}, // more parts than slots
		{[]int{1, 1, 1, 900, 128, 1}, []int{899}, 1, 0},
	} {
		p := judgetest.Prepare(t, decodeSplit, judge.Spec{Shape: c.shape, Each: c.each, Dist: tensor.Normal}, 3)
		blocks, bytes := decodeSplit.Spread(p.C)
		assert.Equal(t, c.blocks, blocks, c.shape)
		assert.Equal(t, c.bytes, bytes, c.shape)
	}
}
