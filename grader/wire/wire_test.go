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
	"flashlab/tensor"
)

func TestRepliesTravel(t *testing.T) {
	var b bytes.Buffer
	out, err := tensor.Random(tensor.Normal, 1, 0, 2, 3)
	require.NoError(t, err)
	require.NoError(t, WriteReply(&b, Reply{ID: 7}, out))
	_, back, err := ReadReply(&b, 7, []int{2, 3})
	require.NoError(t, err)
	assert.Equal(t, out, back)

	require.NoError(t, WriteReply(&b, Reply{ID: 8, Error: &Error{Class: Failed, Text: "no"}}, nil))
	reply, back, err := ReadReply(&b, 8, []int{2, 3})
	require.NoError(t, err)
	assert.Nil(t, back)
	assert.Equal(t, Failed, reply.Error.Class)
}

func TestReadReplyRefuses(t *testing.T) {
	out := tensor.New(2, 3)
	for name, c := range map[string]struct {
		reply Reply
		out   *tensor.Tensor
	}{
		"another case":  {Reply{ID: 6}, out},
		"another shape": {Reply{ID: 7}, tensor.New(3, 2)},
		"no output":     {Reply{ID: 7}, nil},
	} {
		var b bytes.Buffer
		require.NoError(t, WriteReply(&b, c.reply, c.out))
		_, _, err := ReadReply(&b, 7, []int{2, 3})
		assert.Error(t, err, name)
	}
	_, _, err := ReadReply(bytes.NewReader([]byte("printed where it should not")), 7, []int{2, 3})
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
