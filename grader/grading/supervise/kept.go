package supervise

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
)

// kept remembers which memory was filled with which values, and finds those that a call changed. It
// reads the device by itself: the worker, which is a stranger's, sees nothing of what is compared.
type kept struct {
	inputs
	of      device.Device
	fills   []fill // no two of them share a byte
	changed string // what was first found changed
	given   uint64 // bytes that were filled since they were last asked for
	freed   string // the input that was first given back; "" for none
}

// fill is memory, and the values that it was given.
type fill struct {
	device.Memory
	remote.Values
}

// maxFills bounds what one case has remembered.
const maxFills = 1 << 12

// begin forgets the case before.
func (k *kept) begin(i inputs) { *k = kept{inputs: i, of: k.of} }

// give makes the n values that m will be filled with, and remembers them. What m held is compared
// now, for then it is gone.
func (k *kept) give(m device.Memory, v remote.Values, n int) ([]float32, error) {
	x, err := k.values(v, n)
	if err != nil {
		return nil, err
	}
	k.release(m)
	k.given += uint64(m.Bytes)
	if len(k.fills) >= maxFills {
		return nil, errors.New("fill " + m.Name + ": the case has filled too many pieces of memory")
	}
	if v.Input == remote.Random || !k.problem.MayChange(v.Input) {
		k.fills = append(k.fills, fill{m, v})
	}
	return x, nil
}

// free is release where m is given back for good. A worker does that once its case is over.
func (k *kept) free(m device.Memory) {
	for _, f := range k.fills {
		if k.freed == "" && f.Input != remote.Random && f.meets(m) {
			k.freed = f.Name
		}
	}
	k.release(m)
}

// over is an error once an input has been given back: in its place there would be another, which
// nobody compares.
func (k *kept) over() error {
	if k.freed == "" {
		return nil
	}
	return fmt.Errorf("%s was freed, and is the grader's: what a call did not allocate it cannot free", k.freed)
}

// release compares what a piece of memory holds, and remembers it no longer.
func (k *kept) release(m device.Memory) {
	if !slices.ContainsFunc(k.fills, func(f fill) bool { return f.meets(m) }) {
		return
	}
	var rest []fill
	for _, f := range k.fills {
		if !f.meets(m) {
			rest = append(rest, f)
			continue
		}
		k.compare(f)
		if f.Addr < m.Addr {
			rest = append(rest, f.part(0, int64(m.Addr-f.Addr)))
		}
		if past := int64(m.Addr) + m.Bytes - int64(f.Addr); past < f.Bytes {
			rest = append(rest, f.part(past, f.Bytes-past))
		}
	}
	k.fills = rest
}

// meets tells whether a fill shares a byte with memory.
func (f fill) meets(m device.Memory) bool {
	return f.Addr < m.Addr+uint64(m.Bytes) && m.Addr < f.Addr+uint64(f.Bytes)
}

// part is some bytes of a fill, from one on; both are whole numbers' bytes, as the server has checked.
func (f fill) part(from, bytes int64) fill {
	f.Addr += uint64(from)
	f.Bytes = bytes
	f.From += f.Type.Elements(int(from))
	return f
}

// end compares all that is left, and says what the case changed; "" for nothing.
func (k *kept) end() string {
	for _, f := range k.fills {
		k.compare(f)
	}
	k.fills = nil
	return k.changed
}

// compare looks whether memory holds what it was filled with, bit for bit. A device that cannot be
// read has failed, and the case with it.
func (k *kept) compare(f fill) {
	if k.changed != "" {
		return
	}
	held := make([]byte, f.Bytes)
	want, err := k.values(f.Values, f.Type.Elements(len(held)))
	if err != nil || k.of.CopyOut(held, f.Memory) != nil {
		return
	}
	t, from := problem.Tensor{Name: f.Name, Shape: []int{len(want)}}, 0
	if f.Input != remote.Random {
		t, from = k.problem.Inputs[f.Input], f.From
	}
	t.Type = f.Type // as it was filled
	k.changed = t.Changed(held, f.Type.Encode(want), from)
}
