package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// asking is a case with outputs of these shapes.
func asking(id int, shapes ...[]int) problem.Problem {
	c := problem.Problem{ID: id}
	for _, s := range shapes {
		c.Outputs = append(c.Outputs, problem.Tensor{Name: "y", Shape: s})
	}
	return c
}

func output(tensors ...*tensor.Tensor) *problem.Answer { return &problem.Answer{Tensors: tensors} }

func TestRepliesTravel(t *testing.T) {
	var b bytes.Buffer
	out, err := tensor.Random(tensor.Normal, 1, 0, 2, 3)
	require.NoError(t, err)
	sent := &problem.Answer{Tensors: []*tensor.Tensor{out, tensor.New(1)}, Counts: map[string]uint64{problem.Moved: 9}}
	require.NoError(t, WriteReply(&b, Reply{ID: 7}, sent))
	_, back, err := ReadReply(&b, asking(7, []int{2, 3}, []int{1}))
	require.NoError(t, err)
	assert.Equal(t, sent, back)

	require.NoError(t, WriteReply(&b, Reply{ID: 8, Error: &Error{Class: Failed, Text: "no"}}, nil))
	reply, back, err := ReadReply(&b, asking(8, []int{2, 3}))
	require.NoError(t, err)
	assert.Nil(t, back)
	assert.Equal(t, Failed, reply.Error.Class)
}

func TestCasesTravelWithTheirInputs(t *testing.T) {
	c := problem.Problem{ID: 3, Op: "mask", Seed: 5, Inputs: []problem.Tensor{
		{Name: "a", Shape: []int{2, 3}, Dist: tensor.Normal, Stream: 1},
		{Name: "b", Shape: []int{4}, Given: true},
	}}
	a, err := c.Inputs[0].Random(5)
	require.NoError(t, err)
	b := tensor.New(4)
	b.Data[2] = 7
	var sent bytes.Buffer
	require.NoError(t, WriteCase(&sent, c, []*tensor.Tensor{a, b}))
	assert.Less(t, sent.Len(), 1000)
	got, in, err := ReadCase(&sent)
	require.NoError(t, err)
	assert.Equal(t, c, got)
	assert.Equal(t, []*tensor.Tensor{a, b}, in)
}

func TestReadReplyRefuses(t *testing.T) {
	out := output(tensor.New(2, 3))
	for name, c := range map[string]struct {
		reply Reply
		out   *problem.Answer
	}{
		"another case":  {Reply{ID: 6}, out},
		"another shape": {Reply{ID: 7}, output(tensor.New(3, 2))},
		"no output":     {Reply{ID: 7}, nil},
		"two outputs":   {Reply{ID: 7}, output(tensor.New(2, 3), tensor.New(2, 3))},
	} {
		var b bytes.Buffer
		require.NoError(t, WriteReply(&b, c.reply, c.out))
		_, _, err := ReadReply(&b, asking(7, []int{2, 3}))
		assert.Error(t, err, name)
	}
	_, _, err := ReadReply(bytes.NewReader([]byte("printed where it should not")), asking(7, []int{2, 3}))
	assert.Error(t, err)
}

func TestErrorOfFindsTheClass(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{fmt.Errorf("softmax: %w", attn.ErrNotImplemented), NotImplemented},
		{fmt.Errorf("new: %w", &device.CompileError{File: "k.cu"}), Compile},
		{&device.FaultError{Kernel: "k"}, Fault},
		{errors.New("x"), Failed},
	} {
		assert.Equal(t, c.want, ErrorOf(c.err).Class)
	}
	assert.Nil(t, ErrorOf(nil))
}
