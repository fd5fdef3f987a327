package unfused

import (
	"flashlab/attn"
	"flashlab/device"
)

const (
	softmaxThreads = 512                   // THREADS_SOFTMAX: of a softmax's block
	kept           = 32                    // MOST: elements of a row that a thread of softmax keeps
	tile           = 128                   // TILE: a product's block computes tile × tile results
	depth          = 32                    // DEPTH: terms of the sums that are staged at a time
	side           = 16                    // SIDE: a product's block has side × side threads
	maxLen         = softmaxThreads * kept // of a row of softmax
)

var (
	softmaxes = []string{"softmax_fours", "softmax_any"}
	sizes     = map[string]int{"THREADS_SOFTMAX": softmaxThreads, "TILE": tile, "DEPTH": depth, "SIDE": side}
	square    = device.D1(side * side)
)

func (a *Attention) softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	kernel := "softmax_any"
	if s.Inner == 1 && s.Len%4 == 0 && dst.Memory().Addr%16 == 0 && src.Memory().Addr%16 == 0 {
		kernel = "softmax_fours"
	}
	team := teamFor(s.Len)
	l := device.Launch{Grid: device.D1(cover(s.Rows(), softmaxThreads/team)), Block: device.D1(softmaxThreads)}
	return a.queue.Launch(a.kernels[kernel], l, src, dst, s.Rows(), s.Len, s.Inner, team)
}

// teamFor is how many threads share a row: a warp at least, and as many as can
// keep all of it.
func teamFor(length int) int {
	team := 32
	for team*kept < length {
		team *= 2
	}
	return team
}
