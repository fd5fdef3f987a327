package worker

import (
	"fmt"
	"sync"

	"flashlab/device"
)

// lendingQueue is the queue under all that student code holds: it lends the case's tensors. What was not
// allocated on it cannot be freed on it. Who frees an input or an output could allocate another in its
// place: one that no longer holds what it was given, or is not poisoned.
type lendingQueue struct {
	device.Queue
	mu  sync.Mutex
	own map[uint64]device.Memory // by address: what was allocated, and not freed since
}

func lendTensors(q device.Queue) *lendingQueue {
	return &lendingQueue{Queue: q, own: map[uint64]device.Memory{}}
}

func (l *lendingQueue) Malloc(name string, bytes int64) (device.Memory, error) {
	m, err := l.Queue.Malloc(name, bytes)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.own[m.Addr] = m
	}
	return m, err
}

func (l *lendingQueue) Free(m device.Memory) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.within(m) {
		return fmt.Errorf("free %s: it is the grader's, or was freed before: what a call did not allocate it cannot free", m.Name)
	}
	err := l.Queue.Free(m) // which knows what is whole
	if err == nil {
		delete(l.own, m.Addr)
	}
	return err
}

// within tells whether memory is some of what was allocated here.
func (l *lendingQueue) within(m device.Memory) bool {
	if _, ok := l.own[m.Addr]; ok {
		return true
	}
	for _, o := range l.own {
		if m.Addr-o.Addr < uint64(o.Bytes) {
			return true
		}
	}
	return false
}
