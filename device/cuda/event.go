//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"time"

	"gorgonia.org/cu"

	"flashlab/device"
)

// event is a point in the stream's time.
type event struct {
	gpu      *gpu
	handle   cu.Event
	recorded bool
	closed   bool
}

// NewEvent makes an event that can be timed.
func (g *gpu) NewEvent() (device.Event, error) {
	e := &event{gpu: g}
	err := g.do(func() error {
		var err error
		if e.handle, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return g.failed("cuEventCreate()", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Record queues the event.
func (e *event) Record() error {
	return e.gpu.now("record an event", func() error {
		if e.closed {
			return errClosedEvent
		}
		if err := e.handle.Record(cu.NoStream); err != nil {
			return e.gpu.failed("cuEventRecord()", err)
		}
		e.recorded = true
		return nil
	})
}

var errClosedEvent = errors.New("the event is closed")

// Since waits for both events and returns the time between them.
func (e *event) Since(start device.Event) (time.Duration, error) {
	first, ok := start.(*event)
	if !ok || first == nil || first.gpu != e.gpu {
		return 0, fmt.Errorf("time since an event of another device: got a %T", start)
	}
	var took time.Duration
	err := e.gpu.now("time between events", func() error {
		for _, one := range []*event{first, e} {
			if one.closed {
				return errClosedEvent
			}
			if !one.recorded {
				return errors.New("time between events: one was never recorded")
			}
			if err := one.handle.Synchronize(); err != nil {
				return e.gpu.failed("cuEventSynchronize()", err)
			}
		}
		ms, err := first.handle.Elapsed(e.handle)
		if err != nil {
			return e.gpu.failed("cuEventElapsedTime()", err)
		}
		took = time.Duration(ms * float64(time.Millisecond))
		return nil
	})
	return took, err
}

var _ device.Asked = (*event)(nil)

// Passed tells whether the event has happened, and does not wait.
func (e *event) Passed() (passed bool, err error) {
	err = e.gpu.now("ask for an event", func() error {
		if e.closed {
			return errClosedEvent
		}
		if !e.recorded {
			return errors.New("ask for an event: it was never recorded")
		}
		switch err := e.handle.Query(); {
		case err == nil:
			passed = true
		case !errors.Is(err, cu.NotReady):
			return e.gpu.failed("cuEventQuery()", err)
		}
		return nil
	})
	return passed, err
}

// Close gives the event back.
func (e *event) Close() error {
	return e.gpu.do(func() error {
		if e.closed {
			return nil
		}
		if err := cu.DestroyEvent(&e.handle); err != nil {
			return e.gpu.failed("cuEventDestroy()", err)
		}
		e.closed = true
		return nil
	})
}
