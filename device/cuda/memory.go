//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"sort"
	"unsafe"

	"gorgonia.org/cu"

	"flashlab/device"
)

// blocks are the allocations, by address: a wrong address in a copy is caught
// here, with the buffer's name, and not by a driver that knows only numbers.
type blocks []device.Memory

// find is the index of the block that holds all of [at, at+bytes), or -1.
func (b blocks) find(at uint64, bytes int64) int {
	i := sort.Search(len(b), func(i int) bool { return b[i].Addr > at }) - 1
	if i < 0 || bytes < 0 || at-b[i].Addr > uint64(b[i].Bytes) || bytes > b[i].Bytes-int64(at-b[i].Addr) {
		return -1
	}
	return i
}

func (b *blocks) add(m device.Memory) {
	i := sort.Search(len(*b), func(i int) bool { return (*b)[i].Addr > m.Addr })
	*b = append(*b, device.Memory{})
	copy((*b)[i+1:], (*b)[i:])
	(*b)[i] = m
}

func (b *blocks) remove(i int) { *b = append((*b)[:i], (*b)[i+1:]...) }

// holds refuses memory that is not, or no longer, all in one allocation.
func (g *gpu) holds(what string, m device.Memory) error {
	if m.Bytes <= 0 || g.blocks.find(m.Addr, m.Bytes) < 0 {
		return fmt.Errorf("%s %s: %d bytes at %#x are in no buffer of this device: freed, or never allocated", what, m.Name, m.Bytes, m.Addr)
	}
	return nil
}

// Malloc allocates device memory.
func (g *gpu) Malloc(name string, bytes int64) (device.Memory, error) {
	var m device.Memory
	if bytes <= 0 {
		return m, fmt.Errorf("alloc %s: %d bytes: want at least 1", name, bytes)
	}
	err := g.now("alloc "+name, func() error {
		at, err := cu.MemAlloc(bytes)
		if errors.Is(err, cu.OutOfMemory) {
			free, total, _ := cu.MemInfo()
			return fmt.Errorf("alloc %s, %d bytes: %w: %.1f of %.1f GB are free", name, bytes, device.ErrOutOfMemory, float64(free)/1e9, float64(total)/1e9)
		}
		if err != nil {
			return g.failed(fmt.Sprintf("alloc %s: cuMemAlloc(%d)", name, bytes), err)
		}
		m = device.Memory{Addr: uint64(at), Bytes: bytes, Name: name}
		g.blocks.add(m)
		return nil
	})
	return m, err
}

// Free gives an allocation back, once all that uses it has run.
func (g *gpu) Free(m device.Memory) error {
	return g.now("free "+m.Name, func() error {
		i := g.blocks.find(m.Addr, m.Bytes)
		if i < 0 {
			return fmt.Errorf("free %s: it was freed before, or never allocated", m.Name)
		}
		if whole := g.blocks[i]; whole.Addr != m.Addr || whole.Bytes != m.Bytes {
			return fmt.Errorf("free %s: this is a part of a buffer: free the whole", m.Name)
		}
		if err := cu.MemFree(cu.DevicePtr(m.Addr)); err != nil {
			return g.failed(fmt.Sprintf("free %s: cuMemFree(%#x)", m.Name, m.Addr), err)
		}
		g.blocks.remove(i)
		for made := range g.graphs {
			made.lose(m)
		}
		return nil
	})
}

// CopyIn copies to the device; src may be reused when it returns.
func (g *gpu) CopyIn(dst device.Memory, src []byte) error {
	if int64(len(src)) != dst.Bytes {
		return fmt.Errorf("copy to %s: got %d bytes, want %d", dst.Name, len(src), dst.Bytes)
	}
	return g.now("copy to "+dst.Name, func() error {
		if err := g.holds("copy to", dst); err != nil {
			return err
		}
		if err := cu.MemcpyHtoD(cu.DevicePtr(dst.Addr), unsafe.Pointer(&src[0]), dst.Bytes); err != nil {
			return g.failed(fmt.Sprintf("copy to %s: cuMemcpyHtoD(%#x, %d bytes)", dst.Name, dst.Addr, dst.Bytes), err)
		}
		return nil
	})
}

// CopyOut waits for all earlier work and copies from the device.
func (g *gpu) CopyOut(dst []byte, src device.Memory) error {
	if int64(len(dst)) != src.Bytes {
		return fmt.Errorf("copy from %s: got room for %d bytes, want %d", src.Name, len(dst), src.Bytes)
	}
	return g.now("copy from "+src.Name, func() error {
		if err := g.holds("copy from", src); err != nil {
			return err
		}
		if err := cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), cu.DevicePtr(src.Addr), src.Bytes); err != nil {
			return g.failed(fmt.Sprintf("copy from %s: cuMemcpyDtoH(%#x, %d bytes)", src.Name, src.Addr, src.Bytes), err)
		}
		g.finished()
		return nil
	})
}

// Set writes the same byte everywhere.
func (g *gpu) Set(dst device.Memory, value byte) error { return g.fill("set", dst, value) }

// Poison fills memory with ones: every bit set is a NaN in all float formats.
func (g *gpu) Poison(m device.Memory) error { return g.fill("poison", m, 0xFF) }

func (g *gpu) fill(what string, m device.Memory, value byte) error {
	return g.do(func() error {
		if err := g.holds(what, m); err != nil {
			return err
		}
		at := cu.DevicePtr(m.Addr)
		if g.recording != nil {
			g.recording.filled(m)
		}
		// By words where that goes: bytes are slower on large buffers.
		if m.Addr%4 == 0 && m.Bytes%4 == 0 {
			if err := cu.MemsetD32Async(at, uint(value)*0x01010101, m.Bytes/4, g.stream()); err != nil {
				return g.failed(fmt.Sprintf("%s %s: cuMemsetD32Async(%#x, %d bytes)", what, m.Name, m.Addr, m.Bytes), err)
			}
			return nil
		}
		if err := cu.MemsetD8Async(at, value, m.Bytes, g.stream()); err != nil {
			return g.failed(fmt.Sprintf("%s %s: cuMemsetD8Async(%#x, %d bytes)", what, m.Name, m.Addr, m.Bytes), err)
		}
		return nil
	})
}
