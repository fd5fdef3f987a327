package gpt2

import (
	"errors"
	"unsafe"

	"flashlab/device"
)

// onward lets a step be queued before the host knows which token it takes. It tells when the previous pass is done, and copies that
// pass's token while the next one runs. So the device never idles for a token's way to the host and a launch's way back.
type onward struct {
	aside  device.Aside   // nil until somebody wants it, or if the device can do no such thing
	events []device.Event // behind the last two passes, in turn
	marked int            // passes with an event behind them
}

// begin makes it ready, if the device can do it.
func (o *onward) begin(d device.Device) {
	aside, ok := d.(device.Aside)
	if !ok || o.aside != nil {
		return
	}
	for len(o.events) < 2 {
		event, err := d.NewEvent()
		if err != nil {
			return
		}
		if _, ok := event.(device.Asked); !ok {
			return
		}
		o.events = append(o.events, event)
	}
	o.aside = aside
}

// mark has an event behind what was queued, once there are such.
func (o *onward) mark() error {
	if o.aside == nil {
		return nil
	}
	o.marked++
	return o.events[o.marked%2].Record()
}

// wait waits for the pass whose event was that one.
func (o *onward) wait(marked int) error {
	for {
		passed, err := o.events[marked%2].(device.Asked).Passed()
		if passed || err != nil {
			return err
		}
	}
}

func (o *onward) close() (failed error) {
	for _, event := range o.events {
		failed = errors.Join(failed, event.Close())
	}
	*o = onward{}
	return failed
}

// GreedyOn is Greedy. If the device can copy aside, it queues the step with this token before it waits for the token, and stepped is
// true.
func (m *Model) GreedyOn() (token int32, stepped bool, err error) {
	if m.onward.marked == 0 || m.Room() < 1 {
		m.onward.begin(m.device) // for the next
		token, err = m.Greedy()
		return token, false, err
	}
	at, last := m.before.Host[0], m.onward.marked
	place, err := m.tokens.Slice(at, at+1)
	if err != nil {
		return 0, false, err
	}
	if err := m.queueStep(); err != nil {
		return 0, false, err
	}
	if err := m.onward.wait(last); err != nil {
		return 0, false, err
	}
	if err := m.onward.aside.CopyOutAside(unsafe.Slice((*byte)(unsafe.Pointer(&token)), 4), place.Memory()); err != nil {
		return 0, false, err
	}
	return token, true, checkPicked(token)
}

func checkPicked(token int32) error {
	if token < 0 {
		return errors.New("the model's logits hold NaN: a kernel is wrong")
	}
	return nil
}
