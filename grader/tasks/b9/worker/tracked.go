package main

import (
	"fmt"

	"flashlab/device"
)

// tracked is the queue that a model holds. It remembers what the model allocates, for it has no way to give
// that back, and what it asks for in a step besides launches.
type tracked struct {
	device.Queue
	held   []device.Memory
	within bool   // a step
	asked  string // what was first called in one
}

func (t *tracked) note(format string, args ...any) {
	if t.within && t.asked == "" {
		t.asked = fmt.Sprintf(format, args...)
	}
}

// fault is what is wrong with a step that has ended.
func (t *tracked) fault() error {
	if t.asked == "" {
		return nil
	}
	return fmt.Errorf("in Step, the model %s: it may only launch there, because a step is recorded once and replayed. Allocate and compile in New; tokens and lengths stay on the device", t.asked)
}

func (t *tracked) Malloc(name string, bytes int64) (device.Memory, error) {
	t.note("allocates %q, %d bytes", name, bytes)
	m, err := t.Queue.Malloc(name, bytes)
	if err == nil {
		t.held = append(t.held, m)
	}
	return m, err
}

func (t *tracked) Free(m device.Memory) error {
	t.note("frees %q", m.Name)
	err := t.Queue.Free(m)
	for i, h := range t.held {
		if err == nil && h.Addr == m.Addr {
			t.held = append(t.held[:i], t.held[i+1:]...)
			break
		}
	}
	return err
}

func (t *tracked) CopyIn(dst device.Memory, src []byte) error {
	t.note("copies %d bytes to %q", len(src), dst.Name)
	return t.Queue.CopyIn(dst, src)
}

func (t *tracked) CopyOut(dst []byte, src device.Memory) error {
	t.note("copies %d bytes from %q", len(dst), src.Name)
	return t.Queue.CopyOut(dst, src)
}

func (t *tracked) Compile(src device.Source) (device.Module, error) {
	t.note("compiles %s", src.Name)
	return t.Queue.Compile(src)
}

// free gives back all that is still held.
func (t *tracked) free() {
	for _, m := range t.held {
		_ = t.Queue.Free(m)
	}
	t.held = nil
}
