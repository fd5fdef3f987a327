package worker

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
)

// What a submission did not allocate it cannot free, in no way that it may say so.
func TestACallFreesOnlyItsOwn(t *testing.T) {
	d, err := sim.Start(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	q := lendTensors(device.QueueOf(d))
	const refused = "it is the grader's, or was freed before"

	theirs, err := device.Upload(d, "q", []float32{1, 2, 3, 4})
	require.NoError(t, err)
	part, err := theirs.Slice(1, 2)
	require.NoError(t, err)
	renamed := theirs.Memory()
	renamed.Name = "scratch"
	for _, m := range []device.Memory{theirs.Memory(), part.Memory(), renamed, {}} {
		assert.ErrorContains(t, q.Free(m), refused)
	}

	mine, err := device.Alloc[float32](q, "scratch", 8)
	require.NoError(t, err)
	part, err = mine.Slice(2, 4)
	require.NoError(t, err)
	assert.ErrorContains(t, part.Free(q), "no allocation starts", "the device knows what is whole")
	require.NoError(t, mine.Free(q))
	assert.ErrorContains(t, mine.Free(q), refused)
	again, err := device.Alloc[float32](d, "the grader's, where scratch was", 8)
	require.NoError(t, err)
	assert.ErrorContains(t, device.Queue.Free(q, again.Memory()), refused)
	got, err := theirs.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 2, 3, 4}, got)
	_, whole := any(q).(device.Device)
	assert.False(t, whole)
}
