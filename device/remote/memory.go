package remote

import (
	"fmt"
	"slices"
	"sort"

	"flashlab/device"
)

// maxAllocs bounds how many blocks one client may hold.
const maxAllocs = 1 << 16

// heap knows what the server handed out, sorted by address.
type heap struct{ blocks []device.Memory }

func (h *heap) add(m device.Memory) {
	at := h.after(m.Addr)
	h.blocks = slices.Insert(h.blocks, at, m)
}

// after is the index of the first block that starts behind addr.
func (h *heap) after(addr uint64) int {
	return sort.Search(len(h.blocks), func(i int) bool { return h.blocks[i].Addr > addr })
}

// find is the block that addr lies in.
func (h *heap) find(addr uint64) (device.Memory, bool) {
	at := h.after(addr) - 1
	if at < 0 || addr-h.blocks[at].Addr >= uint64(h.blocks[at].Bytes) {
		return device.Memory{}, false
	}
	return h.blocks[at], true
}

// part checks that [addr, addr+bytes) lies in one block, and names it.
func (h *heap) part(op string, q request) (device.Memory, error) {
	block, ok := h.find(q.Addr)
	if !ok {
		return device.Memory{}, fmt.Errorf("%s %s: the buffer is not allocated, or was freed", op, cut(q.Name, 100))
	}
	offset := q.Addr - block.Addr
	if q.Bytes < 0 || uint64(q.Bytes) > uint64(block.Bytes)-offset {
		return device.Memory{}, fmt.Errorf("%s %s: %d bytes from byte %d on go beyond its %d bytes", op, block.Name, q.Bytes, offset, block.Bytes)
	}
	return device.Memory{Addr: q.Addr, Bytes: q.Bytes, Name: block.Name}, nil
}

// take removes a block, which must be named by its start.
func (h *heap) take(q request) (device.Memory, error) {
	at := h.after(q.Addr) - 1
	if at < 0 || h.blocks[at].Addr != q.Addr || h.blocks[at].Bytes != q.Bytes {
		return device.Memory{}, fmt.Errorf("free %s: not a whole buffer that is allocated (was it freed before, or is it a slice?)", cut(q.Name, 100))
	}
	m := h.blocks[at]
	h.blocks = slices.Delete(h.blocks, at, at+1)
	return m, nil
}
