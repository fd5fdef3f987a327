package main

import (
	"fmt"

	"flashlab/device"
	"flashlab/grader/tasks/task6/tint"
)

// tracked is the queue that layers hold. It remembers what they allocate, for
// they have no way to give it back, and what they ask of it during Forward.
type tracked struct {
	device.Queue
	held   []device.Memory
	pass   string // that a Forward runs; "" outside
	during string // what was first called in a Forward that cannot be recorded
}

func (t *tracked) in(pass string) { t.pass = pass }
func (t *tracked) out()           { t.pass = "" }

func (t *tracked) note(format string, args ...any) {
	if t.pass != "" && t.during == "" {
		t.during = fmt.Sprintf(format, args...)
	}
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

// Compile is refused: with kernels beside the given ones a layer would not need these.
func (t *tracked) Compile(device.Source) (device.Module, error) {
	return nil, tint.ErrCompile
}

// free gives back all that is still held.
func (t *tracked) free() {
	if t == nil {
		return
	}
	for _, m := range t.held {
		_ = t.Queue.Free(m)
	}
	t.held = nil
}
