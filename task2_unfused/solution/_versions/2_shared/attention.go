package unfused

import (
	"flashlab/attn"
	"flashlab/device"
)

const (
	softmaxThreads = 512   // of a softmax's block at most
	tile           = 16    // a product's block has tile × tile threads: a result each
	maxLen         = 16384 // of a row of softmax, which is staged in shared memory: 64 KB
)

var (
	softmaxes = []string{"softmax"}
	sizes     = map[string]int{"BLOCK": softmaxThreads, "SIDE": tile} // that kernels.cu is compiled for
	square    = device.D2(tile, tile)
)

func (a *Attention) softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	l := device.Launch{
		Grid:   device.D1(s.Rows()),
		Block:  device.D1(blockFor(s.Len)),
		Shared: s.Len * 4, // the staged row
	}
	return a.queue.Launch(a.kernels["softmax"], l, src, dst, s.Len, s.Inner)
}

// blockFor picks the threads of a block: the smallest power of two that covers
// the row, within the limits. Longer rows give each thread several elements.
func blockFor(length int) int {
	block := 32 // a warp: fewer threads would leave lanes idle
	for block < length && block < softmaxThreads {
		block *= 2
	}
	return block
}
