package unfused

import (
	"flashlab/attn"
	"flashlab/device"
)

const (
	softmaxThreads = 512   // THREADS_SOFTMAX: of a softmax's block at most
	tile           = 64    // TILE: a product's block computes tile × tile results
	depth          = 16    // DEPTH: terms of the sums that are staged at a time
	side           = 16    // SIDE: a product's block has side × side threads
	maxLen         = 16384 // of a row of softmax, which is staged in shared memory: 64 KB
)

var (
	softmaxes = []string{"softmax"}
	sizes     = map[string]int{"THREADS_SOFTMAX": softmaxThreads, "TILE": tile, "DEPTH": depth, "SIDE": side}
	square    = device.D1(side * side)
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
