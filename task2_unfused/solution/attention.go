package unfused

import (
	"fmt"
	"strconv"

	"flashlab/attn"
	"flashlab/device"
)

const (
	maxBlock = 512   // threads a block at most: BLOCK in kernels.cu
	minBlock = 32    // a warp: fewer threads would leave lanes idle
	maxLen   = 16384 // a row is staged in shared memory: 64 KB
)

// Attention holds the compiled kernels.
type Attention struct {
	queue   device.Queue
	softmax device.Kernel
}

var _ attn.Softmaxer = (*Attention)(nil)

// New compiles the kernels for one device.
func New(q device.Queue) (*Attention, error) {
	src := Source
	src.Defines = map[string]string{"BLOCK": strconv.Itoa(maxBlock)}
	module, err := q.Compile(src)
	if err != nil {
		return nil, err
	}
	softmax, err := module.Kernel("softmax")
	if err != nil {
		return nil, err
	}
	return &Attention{queue: q, softmax: softmax}, nil
}

// Softmax writes to dst the softmax of src along the dimension Len.
func (a *Attention) Softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	if err := s.Check(dst, src); err != nil {
		return err
	}
	if s.Len > maxLen {
		return fmt.Errorf("softmax of %v: a row has at most %d elements", s, maxLen)
	}
	l := device.Launch{
		Grid:   device.D1(s.Rows()),
		Block:  device.D1(blockFor(s.Len)),
		Shared: s.Len * 4, // the staged row
	}
	return a.queue.Launch(a.softmax, l, src, dst, s.Len, s.Inner)
}

// blockFor picks the threads of a block: the smallest power of two that covers
// the row, within the limits. Longer rows give each thread several elements.
func blockFor(length int) int {
	block := minBlock
	for block < length && block < maxBlock {
		block *= 2
	}
	return block
}
