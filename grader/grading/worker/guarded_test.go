package worker

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// counting is a queue that counts what reaches it.
type counting struct {
	device.Queue // nil: only the methods below are called
	mu           sync.Mutex
	calls        []string
	entered      chan struct{} // a launch says that it is under way, and waits for hold
	hold         chan struct{}
}

func (c *counting) did(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, what)
	return nil
}

func (c *counting) Info() device.Info { return device.Info{Name: "counting"} }
func (c *counting) Malloc(name string, n int64) (device.Memory, error) {
	return device.Memory{Name: name, Bytes: n}, c.did("malloc")
}
func (c *counting) Free(device.Memory) error            { return c.did("free") }
func (c *counting) CopyIn(device.Memory, []byte) error  { return c.did("in") }
func (c *counting) CopyOut([]byte, device.Memory) error { return c.did("out") }
func (c *counting) Set(device.Memory, byte) error       { return c.did("set") }
func (c *counting) Compile(device.Source) (device.Module, error) {
	return nil, c.did("compile")
}
func (c *counting) Launch(device.Kernel, device.Launch, ...any) error {
	if c.hold != nil {
		c.entered <- struct{}{}
		<-c.hold
	}
	return c.did("launch")
}

// all asks a queue for everything that it can do.
func all(q device.Queue) (errs []error) {
	m, err := q.Malloc("x", 4)
	_, compiled := q.Compile(device.Source{Name: "k.cu"})
	return append(errs, err, compiled, q.CopyIn(m, nil), q.CopyOut(nil, m), q.Set(m, 0), q.Launch(nil, device.Launch{}), q.Free(m))
}

func TestAQueueIsOpenOnlyWhileItsCallRuns(t *testing.T) {
	c := &counting{}
	g := &guarded{queue: c}
	for _, err := range all(g) {
		assert.NoError(t, err)
	}
	assert.Len(t, c.calls, 7)
	assert.Empty(t, g.noted())
	g.set(true)
	for _, err := range all(g) {
		assert.ErrorIs(t, err, errOutside)
	}
	assert.Len(t, c.calls, 7, "nothing reached the device")
	assert.Equal(t, "allocate x", g.noted(), "the first thing that was asked")
	assert.Equal(t, "counting", g.Info().Name, "which is no work")
	g.set(false)
	for _, err := range all(g) {
		assert.NoError(t, err)
	}
	assert.NotEmpty(t, g.noted(), "it is not forgotten")
}

func TestShuttingWaitsForWhatIsBeingAsked(t *testing.T) {
	c := &counting{entered: make(chan struct{}), hold: make(chan struct{})}
	g := &guarded{queue: c}
	launched, shut := make(chan error), make(chan struct{})
	go func() { launched <- g.Launch(nil, device.Launch{}) }()
	<-c.entered
	go func() { g.set(true); close(shut) }()
	select {
	case <-shut:
		require.Fail(t, "it was shut while a launch went on: the launch would come after the clock has stopped")
	case <-time.After(20 * time.Millisecond):
	}
	c.hold <- struct{}{}
	assert.NoError(t, <-launched)
	<-shut
	assert.ErrorIs(t, g.Launch(nil, device.Launch{}), errOutside)
}

func TestNoAssertionReachesPastTheGuard(t *testing.T) {
	var q device.Queue = &guarded{queue: &counting{}}
	_, is := q.(device.Device)
	assert.False(t, is)
	_, is = q.(device.Bench)
	assert.False(t, is)
	_, is = q.(interface{ Sync() error })
	assert.False(t, is)
}

func TestAnErrorOfTheQueueIsPassedOn(t *testing.T) {
	g := &guarded{queue: failing{}}
	assert.EqualError(t, g.Set(device.Memory{}, 0), "no")
	assert.Empty(t, g.noted())
}

type failing struct{ device.Queue }

func (failing) Set(device.Memory, byte) error { return errors.New("no") }
