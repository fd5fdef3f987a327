package worker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
)

// student is one of methods that contracts have.
type student struct{ got []any }

type pair struct {
	B, A device.Buffer[device.Float16]
}

type shape struct{ Rows, K int }

func (s *student) Pair(out device.Buffer[float32], p pair, more device.Buffer[int8], sh shape, k int, n attn.PerSequence) error {
	s.got = []any{out.Name(), p.A.Name(), p.B.Name(), more.Name(), more.Len(), sh, k, n.Host}
	return nil
}

func (s *student) Step(q device.Buffer[device.Float16], none device.Buffer[float32], sh attn.DecodeShape) error {
	s.got = []any{q.Name(), none.Len(), sh}
	return attn.ErrNotImplemented
}

func (s *student) Odd(float32) error { return errors.New("is never called") }

var places = struct{ out, in Places }{Places{{Name: "out", Bytes: 8}}, Places{{Name: "A", Bytes: 4}, {Name: "B", Bytes: 4}, {Name: "c", Bytes: 3}}}

func TestMethodsTakeWhatACaseHas(t *testing.T) {
	s := &student{}
	c := problem.Problem{Sizes: map[string]int{"k": 5, "part": 7, "batch": 2, "slots": 3, "kvheads": 1, "dim": 4, "heads": 6}}
	call := Method("a.go", (*student).Pair, "part").Call
	require.NoError(t, call(s, c, places.out, places.in, attn.PerSequence{Host: []int{9}}))
	assert.Equal(t, []any{"out", "A", "B", "c", 3, shape{1, 5}, 7, []int{9}}, s.got, "by name, then by order; of no rows there is 1")

	given := func(problem.Problem) shape { return shape{30, 40} }
	last := Order(func(out, in Places) Places { return append(append(Places{}, in[2:]...), append(in[:2:2], out...)...) })
	require.ErrorContains(t, Method("a.go", (*student).Pair, last, given).Call(s, c, places.out, places.in, attn.PerSequence{}), "Pair, argument 1")
	require.NoError(t, Method("a.go", (*student).Pair, given).Call(s, c, places.out, places.in, attn.PerSequence{}))
	assert.Equal(t, shape{30, 40}, s.got[5])

	err := Method("a.go", (*student).Step).Call(s, c, places.in[:1], nil, attn.PerSequence{})
	require.ErrorIs(t, err, attn.ErrNotImplemented)
	assert.ErrorContains(t, err, "Step in a.go is still the stub")
	assert.Equal(t, []any{"A", 0, c.Decode()}, s.got, "no tensor is left for the second")
	assert.Equal(t, attn.ErrNotImplemented, Method("", (*student).Step).Call(s, c, places.in[:1], nil, attn.PerSequence{}))

	assert.ErrorContains(t, Method("a.go", (*student).Odd).Call(s, c, nil, nil, attn.PerSequence{}), "Odd, argument 1: a case tells no float32")
}
