package gpt2

import (
	"errors"
	"unsafe"

	"flashlab/device"
)

// logs is a step that also puts the token it picks at its position in tokens.
type logs interface{ logs() bool }

// onward is what it takes to queue a step before the token that the last one picks is known here: to know when that is
// done, and to copy beside what follows. So nobody waits for a token to travel here, and for the next launch to travel back.
type onward struct {
	device device.Device
	aside  device.Aside
	events []device.Event // behind the last two steps, in turn
	marked int            // steps since the prompt with an event behind them
}

// begin makes it ready; a device that cannot do it leaves marked at 0.
func (o *onward) begin(d device.Device) {
	aside, ok := d.(device.Aside)
	if d == nil || !ok || o.device != nil {
		return
	}
	for range 2 {
		event, err := d.NewEvent()
		if err != nil {
			return
		}
		o.events = append(o.events, event)
	}
	o.device, o.aside = d, aside
}

func (o *onward) forget() { o.marked = 0 }

// mark has an event behind what was queued.
func (o *onward) mark() error {
	if o.device == nil {
		return nil
	}
	o.marked++
	return o.events[o.marked%2].Record()
}

// wait waits for the step with so many events before it.
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

// GreedyOn is Greedy. If the last step told its token aside, the step with this token is queued before anybody waits for
// the token: stepped is true then.
func (m *Model) GreedyOn() (token int32, stepped bool, err error) {
	if step, ok := m.other.(logs); !ok || !step.logs() || m.onward.marked == 0 || m.Room() < 1 {
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
