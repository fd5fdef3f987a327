package supervise

import (
	"errors"
	"fmt"
	"time"

	"flashlab/device"
	"flashlab/internal/jail"
)

// metered is a device that knows the most memory that was ever taken from it, and
// how much was copied from it.
type metered struct {
	device.Device
	sizes      map[uint64]uint64 // by address
	live, peak uint64
	copied     uint64 // bytes, to the host
	put        uint64 // bytes, from the host, and those that were set
	broken     error  // a sandbox that did not start
	kept       *kept

	limit   time.Duration // from the first kernel on, for others to start; 0 is none
	first   time.Time
	stopped bool // a kernel came after the limit
}

// Compile remembers a failure of our own, which a worker would report as its own.
func (m *metered) Compile(src device.Source) (device.Module, error) {
	module, err := m.Device.Compile(src)
	var ours *jail.Error
	if errors.As(err, &ours) {
		m.broken = err
	}
	return module, err
}

// meter makes one; k is told what is about to be freed.
func meter(d device.Device, k *kept, limit time.Duration) *metered {
	return &metered{Device: d, sizes: map[uint64]uint64{}, kept: k, limit: limit}
}

// Malloc counts what it hands out.
func (m *metered) Malloc(name string, bytes int64) (device.Memory, error) {
	if err := m.kept.over(); err != nil {
		return device.Memory{}, fmt.Errorf("alloc %s: %w", name, err)
	}
	mem, err := m.Device.Malloc(name, bytes)
	if err == nil {
		m.sizes[mem.Addr] = uint64(bytes)
		m.live += uint64(bytes)
		m.peak = max(m.peak, m.live)
	}
	return mem, err
}

// Free counts what comes back.
func (m *metered) Free(mem device.Memory) error {
	m.kept.free(mem)
	err := m.Device.Free(mem)
	if err == nil {
		m.live -= m.sizes[mem.Addr]
		delete(m.sizes, mem.Addr)
	}
	return err
}

// start refuses kernels once the case or its time is over. (A kernel's launch goes to the simulator
// as it came, past this device.)
func (m *metered) start(string) error {
	if err := m.kept.over(); err != nil {
		return err
	}
	if m.first.IsZero() {
		m.first = time.Now()
	}
	if m.limit > 0 && time.Since(m.first) >= m.limit {
		m.stopped = true
		return fmt.Errorf("kernels have run for %v, which is enough to see what they do", m.limit)
	}
	return nil
}

// CopyOut counts what goes to the host.
func (m *metered) CopyOut(dst []byte, src device.Memory) error {
	m.copied += uint64(len(dst))
	return m.Device.CopyOut(dst, src)
}

// CopyIn counts what comes from the host.
func (m *metered) CopyIn(dst device.Memory, src []byte) error {
	m.put += uint64(len(src))
	return m.Device.CopyIn(dst, src)
}

// Set counts as well: a kernel that writes zeros moves them.
func (m *metered) Set(dst device.Memory, value byte) error {
	m.put += uint64(dst.Bytes)
	return m.Device.Set(dst, value)
}

// takePut returns how much came from the host or was set since the last call, without what the grader filled.
func (m *metered) takePut() uint64 {
	put := m.put - min(m.put, m.kept.given)
	m.put, m.kept.given = 0, 0
	return put
}

// takeCopied returns how much went to the host since the last call.
func (m *metered) takeCopied() uint64 {
	copied := m.copied
	m.copied = 0
	return copied
}

// take returns the most that was held at once since the last call.
func (m *metered) take() uint64 {
	peak := m.peak
	m.peak = m.live
	return peak
}
