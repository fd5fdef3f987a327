package supervise

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// bytesAlone is a device of memory alone, from address 1000 on.
type bytesAlone struct {
	device.Device
	memory []byte
}

func (b bytesAlone) CopyOut(dst []byte, src device.Memory) error {
	copy(dst, b.memory[src.Addr-1000:])
	return nil
}

func (b bytesAlone) Malloc(name string, n int64) (device.Memory, error) {
	return device.Memory{Addr: 1500, Bytes: n, Name: name}, nil
}

func (b bytesAlone) Free(device.Memory) error { return nil }

// filling is a case with x [2, 4] and y [4], the one in float32, the other in int8.
type filling struct {
	*testing.T
	bytesAlone
	*kept
}

func newFilling(t *testing.T, changes bool) filling {
	c := problem.Problem{Seed: 5, Inputs: []problem.Tensor{{Name: "x", Shape: []int{2, 4}}, {Name: "y", Shape: []int{4}, Type: tensor.Int8, Changes: changes}}}
	x, err := tensor.Of([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)
	require.NoError(t, err)
	y, err := tensor.Of([]float32{-1, 0, 1, 2}, 4)
	require.NoError(t, err)
	f := filling{t, bytesAlone{memory: make([]byte, 1000)}, nil}
	f.kept = &kept{of: f.bytesAlone}
	f.begin(inputs{c, []*tensor.Tensor{x, y}})
	return f
}

// at is n bytes of the memory.
func (f filling) at(addr, n int) device.Memory {
	return device.Memory{Addr: uint64(1000 + addr), Bytes: int64(n), Name: "x"}
}

// fill does what the server does.
func (f filling) fill(m device.Memory, v remote.Values) {
	x, err := f.give(m, v, v.Type.Elements(int(m.Bytes)))
	require.NoError(f, err)
	copy(f.memory[m.Addr-1000:], v.Type.Encode(x))
}

func TestInputsAreComparedWithTheirFill(t *testing.T) {
	y := remote.Of(1, 0)
	y.Type = tensor.Int8
	weights := remote.Values{Input: remote.Random, Stream: 3, Scale: 0.5}
	for name, c := range map[string]struct {
		does func(f filling)
		want string
	}{
		"nothing":                   {func(filling) {}, ""},
		"a write beside":            {func(f filling) { f.memory[32]++ }, ""},
		"the last number":           {func(f filling) { f.memory[31]++ }, "x, first at [1, 3]"},
		"two inputs":                {func(f filling) { f.memory[12]++; f.memory[101]++ }, "x, first at [0, 3]"},
		"one byte of another type":  {func(f filling) { f.memory[101]++ }, "y, first at [1]"},
		"numbers that nobody named": {func(f filling) { f.memory[208]++ }, "weights, first at [2]"},
		"and freed":                 {func(f filling) { f.memory[4]++; f.release(f.at(0, 32)); f.memory[4]-- }, "x, first at [0, 1]"},
		"behind its end":            {func(f filling) { f.release(f.at(0, 32)); f.memory[4]++ }, ""},
		"and filled again":          {func(f filling) { f.memory[4]++; f.fill(f.at(0, 32), remote.Of(0, 0)) }, "x, first at [0, 1]"},
		"other numbers of it":       {func(f filling) { f.fill(f.at(0, 16), remote.Of(0, 4)); f.memory[8]++ }, "x, first at [1, 2]"},
		"what a smaller fill left":  {func(f filling) { f.fill(f.at(4, 8), remote.Of(0, 6)); f.memory[16]++ }, "x, first at [1, 0]"},
		"before a smaller fill":     {func(f filling) { f.fill(f.at(4, 8), remote.Of(0, 6)); f.memory[3]++ }, "x, first at [0, 0]"},
		"all right in pieces":       {func(f filling) { f.fill(f.at(4, 8), remote.Of(0, 6)) }, ""},
	} {
		f := newFilling(t, false)
		f.fill(f.at(0, 32), remote.Of(0, 0))
		f.fill(f.at(100, 4), y)
		w := f.at(200, 12)
		w.Name = "weights"
		f.fill(w, weights)
		c.does(f)
		assert.Equal(t, c.want, f.end(), name)
		assert.Empty(t, f.fills, name)
	}
	f := newFilling(t, true)
	f.fill(f.at(100, 4), y)
	f.memory[100]++
	assert.Empty(t, f.end(), "the task lets calls write to it")
}

// Who could free an input could have another in its place: nothing runs then, and nothing is allocated.
func TestACaseIsOverWhenItsInputIsFreed(t *testing.T) {
	f := newFilling(t, false)
	m := meter(f.bytesAlone, f.kept, 0)
	f.fill(f.at(0, 32), remote.Of(0, 0))
	f.fill(f.at(100, 12), remote.Values{Input: remote.Random, Scale: 1})
	for _, own := range []device.Memory{f.at(32, 8), f.at(100, 12)} {
		require.NoError(t, m.Free(own))
		assert.NoError(t, f.over(), "scratch, and weights that a model gives back")
	}
	require.NoError(t, m.Free(f.at(0, 32)))
	_, err := m.Malloc("another", 32)
	assert.EqualError(t, err, "alloc another: x was freed, and is the grader's: what a call did not allocate it cannot free")
	assert.ErrorContains(t, m.start("softmax"), "x was freed")
	assert.Empty(t, f.end(), "a worker that frees at the end of its case has changed nothing")
	f.begin(f.inputs)
	_, err = m.Malloc("of the next case", 32)
	assert.NoError(t, err)
}

func TestNoKernelStartsWhenItsTimeIsOver(t *testing.T) {
	f := newFilling(t, false)
	m := meter(f.bytesAlone, f.kept, time.Second)
	require.NoError(t, m.start("softmax"))
	assert.False(t, m.stopped)
	m.first = m.first.Add(-time.Second)
	assert.EqualError(t, m.start("softmax"), "kernels have run for 1s, which is enough to see what they do")
	assert.True(t, m.stopped)
}

func TestFillsAreBounded(t *testing.T) {
	f := newFilling(t, false)
	f.memory = make([]byte, 4*maxFills)
	f.of = f.bytesAlone
	for i := range maxFills {
		f.fill(f.at(4*i, 4), remote.Of(0, 0))
	}
	_, err := f.give(f.at(4*maxFills, 4), remote.Of(0, 0), 1)
	assert.ErrorContains(t, err, "too many pieces")
}
