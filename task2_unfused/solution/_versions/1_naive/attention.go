package unfused

import (
	"math"

	"flashlab/attn"
	"flashlab/device"
)

const (
	rowThreads = 128         // of a softmax's block: a row each
	tile       = 16          // a product's block has tile × tile threads: a result each
	maxLen     = math.MaxInt // of a row of softmax
)

var (
	softmaxes = []string{"softmax"}
	sizes     = map[string]int{} // kernels.cu is compiled for none
	square    = device.D2(tile, tile)
)

func (a *Attention) softmax(dst, src device.Buffer[float32], s attn.SoftmaxShape) error {
	l := device.Launch{Grid: device.D1(cover(s.Rows(), rowThreads)), Block: device.D1(rowThreads)}
	return a.queue.Launch(a.kernels["softmax"], l, src, dst, s.Rows(), s.Len, s.Inner)
}
