package worker

import (
	"errors"
	"fmt"
	"sync"

	"flashlab/device"
)

// guarded is the queue that student code holds. It takes work while a call of that
// code is running, and none at any other time: a goroutine that goes on after the
// call has returned, or begins before it, works where no clock looks. What such a
// one asked for is refused and remembered.
//
// Nothing but a Queue's methods is exported, so that no type assertion reaches more.
type guarded struct {
	queue device.Queue

	mu      sync.RWMutex // held for reading while something is asked: shutting waits for it
	shut    bool
	noteMu  sync.Mutex
	outside string // the first thing that was asked while it was shut
}

var errOutside = errors.New("the call has returned: work goes on a queue only while the function that was called runs")

func (g *guarded) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
}

// noted is what was asked at the wrong time; "" if nothing was.
func (g *guarded) noted() string {
	g.noteMu.Lock()
	defer g.noteMu.Unlock()
	return g.outside
}

func (g *guarded) note(what string) {
	g.noteMu.Lock()
	defer g.noteMu.Unlock()
	if g.outside == "" {
		g.outside = what
	}
}

func (g *guarded) do(what func() string, ask func() error) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.shut {
		g.note(what())
		return fmt.Errorf("%s: %w", what(), errOutside)
	}
	return ask()
}

func (g *guarded) Info() device.Info { return g.queue.Info() }

func (g *guarded) Malloc(name string, bytes int64) (m device.Memory, err error) {
	err = g.do(func() string { return "allocate " + name }, func() error { m, err = g.queue.Malloc(name, bytes); return err })
	return m, err
}

func (g *guarded) Free(m device.Memory) error {
	return g.do(func() string { return "free " + m.Name }, func() error { return g.queue.Free(m) })
}

func (g *guarded) CopyIn(dst device.Memory, src []byte) error {
	return g.do(func() string { return "copy to " + dst.Name }, func() error { return g.queue.CopyIn(dst, src) })
}

func (g *guarded) CopyOut(dst []byte, src device.Memory) error {
	return g.do(func() string { return "copy from " + src.Name }, func() error { return g.queue.CopyOut(dst, src) })
}

func (g *guarded) Set(dst device.Memory, value byte) error {
	return g.do(func() string { return "set " + dst.Name }, func() error { return g.queue.Set(dst, value) })
}

func (g *guarded) Compile(src device.Source) (m device.Module, err error) {
	err = g.do(func() string { return "compile " + src.Name }, func() error { m, err = g.queue.Compile(src); return err })
	return m, err
}

func (g *guarded) Launch(k device.Kernel, l device.Launch, args ...any) error {
	return g.do(func() string { return "launch " + nameOf(k) }, func() error { return g.queue.Launch(k, l, args...) })
}

func nameOf(k device.Kernel) string {
	if k == nil {
		return "nothing"
	}
	return k.Signature().Name
}
