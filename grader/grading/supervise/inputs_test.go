package supervise

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

func TestValuesThatAWorkerNames(t *testing.T) {
	x, err := tensor.Of([]float32{1, 2, 3, 4}, 4)
	require.NoError(t, err)
	i := inputs{problem: problem.Problem{Seed: 9}, in: []*tensor.Tensor{x}}
	got, err := i.values(remote.Values{From: 1, Scale: 2, Shift: 1}, 2)
	require.NoError(t, err)
	assert.Equal(t, []float32{5, 7}, got)
	assert.Equal(t, []float32{1, 2, 3, 4}, x.Data, "the inputs stay as they are")
	want := make([]float32, 3)
	require.NoError(t, tensor.Fill(want, tensor.Normal, 9, 6, 2))
	got, err = i.values(remote.Values{Input: remote.Random, Stream: 6, From: 2, Scale: 1}, 3)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for _, v := range []remote.Values{{Input: 1}, {Input: -2}, {From: -1}, {From: 3}, {From: 1 << 62}} {
		_, err := i.values(v, 2)
		assert.Error(t, err, "%+v", v)
	}
}
