package worker

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
)

func TestTheLoopOutlivesStudentCode(t *testing.T) {
	calls := 0
	ops := map[string]Op{
		"broken": Softmax(Once(func(device.Queue) (attn.Softmaxer, error) { calls++; panic(silent{}) })),
		"stub":   Softmax(Once(func(device.Queue) (attn.Softmaxer, error) { return nil, attn.ErrNotImplemented })),
	}
	here, there := net.Pipe()
	done := make(chan error)
	go func() { done <- Loop(there, nil, ops) }()
	ask := func(id int, op string) *wire.Error {
		require.NoError(t, wire.WriteCase(here, problem.Problem{ID: id, Op: op}, nil))
		r, out, err := wire.ReadReply(here, problem.Problem{ID: id})
		require.NoError(t, err)
		assert.Nil(t, out)
		return r.Error
	}
	assert.Equal(t, wire.Panicked, ask(1, "broken").Class)
	assert.Equal(t, wire.Failed, ask(2, "broken").Class, "New is called once")
	assert.Equal(t, 1, calls)
	assert.Equal(t, wire.NotImplemented, ask(3, "stub").Class)
	assert.Contains(t, ask(4, "nothing").Text, "nothing")
	here.Close()
	assert.NoError(t, <-done)
}

// silent is a panic's value that panics when it is printed.
type silent struct{}

func (silent) Error() string { panic("no") }

func TestTaskFile(t *testing.T) {
	file, ok := taskFile("flashlab/task2_unfused.(*Attention).Softmax", "/tmp/x/attention.go")
	assert.True(t, ok)
	assert.Equal(t, "task2_unfused/attention.go", file)
	_, ok = taskFile("flashlab/grader/worker.run", "/x/worker.go")
	assert.False(t, ok)
}
