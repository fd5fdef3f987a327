package remote

import (
	"fmt"
	"slices"
	"sort"

	"flashlab/device"
	"flashlab/device/protocol"
)

// maxAllocs bounds how many blocks one client may hold.
const maxAllocs = 1 << 16

// heap knows what the server handed out, sorted by address.
type heap struct{ blocks []device.Memory }

func (h *heap) add(m device.Memory) {
	at := h.after(m.Addr)
	h.blocks = slices.Insert(h.blocks, at, m)
}

// after is the index of the first block that starts after addr.
func (h *heap) after(addr uint64) int {
	return sort.Search(len(h.blocks), func(i int) bool { return h.blocks[i].Addr > addr })
}

// find returns the block that contains addr.
func (h *heap) find(addr uint64) (device.Memory, bool) {
	at := h.after(addr) - 1
	if at < 0 || addr-h.blocks[at].Addr >= uint64(h.blocks[at].Bytes) {
		return device.Memory{}, false
	}
	return h.blocks[at], true
}

// part checks that all of m is in one block, and gives it that block's name.
func (h *heap) part(what string, m device.Memory) (device.Memory, error) {
	block, ok := h.find(m.Addr)
	if !ok {
		return device.Memory{}, fmt.Errorf("%s %s: the buffer is not allocated, or was freed", what, protocol.Cut(m.Name, 100))
	}
	offset := m.Addr - block.Addr
	if m.Bytes < 0 || uint64(m.Bytes) > uint64(block.Bytes)-offset {
		return device.Memory{}, fmt.Errorf("%s %s: %d bytes from byte %d on go beyond its %d bytes", what, block.Name, m.Bytes, offset, block.Bytes)
	}
	return device.Memory{Addr: m.Addr, Bytes: m.Bytes, Name: block.Name}, nil
}

// take removes a block, which must be named by its start.
func (h *heap) take(m device.Memory) (device.Memory, error) {
	at := h.after(m.Addr) - 1
	if at < 0 || h.blocks[at].Addr != m.Addr || h.blocks[at].Bytes != m.Bytes {
		return device.Memory{}, fmt.Errorf("free %s: not a whole buffer that is allocated (was it freed before, or is it a slice?)", protocol.Cut(m.Name, 100))
	}
	block := h.blocks[at]
	h.blocks = slices.Delete(h.blocks, at, at+1)
	return block, nil
}

// check compares values with what a kernel takes: their sizes, and that every pointer
// points into a block. Launch would take them as they then are.
func (h *heap) check(sig device.Signature, values []device.Value) ([]any, error) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	if _, err := device.LayOut(sig, args); err != nil {
		return nil, err
	}
	for i, p := range sig.Params {
		if m := values[i].Map; m != nil {
			if _, err := h.part("a tensor map of", m.Memory); err != nil {
				return nil, device.Refuse(sig.Name, "argument %d (%s %s): %v", i+1, p.Type, p.Name, err)
			}
		}
		if p.Kind != device.Pointer || values[i].Bits == 0 { // device.Null
			continue
		}
		if _, ok := h.find(values[i].Bits); !ok {
			return nil, device.Refuse(sig.Name, "argument %d (%s %s): the buffer is not allocated, or was freed", i+1, p.Type, p.Name)
		}
	}
	return args, nil
}
