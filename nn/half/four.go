package half

import (
	"fmt"

	"flashlab/device"
)

// Four are weights of four bits, those of bonus task b8: of N outputs, each a row of K, (code − zero) · scale
// in groups of 128. Laid ones have the order of fragments, in whole tiles of 16 outputs.
type Four struct {
	Codes  device.Buffer[uint8] // [N, K / 2]
	Scales Halves               // [N, K / 128]
	Zeros  device.Buffer[uint8] // [N, K / 128]
	Laid   bool
}

const fourGroup = 128

// Quantise rounds w [n, k] to weights of four bits that are not laid: to the nearest, with a zero for each group,
// as quant.ToINT4 does.
func (l *Layers) Quantise(to Four, w Halves, n, k int) error {
	what := fmt.Sprintf("quantising [%d, %d]", n, k)
	if to.Laid {
		return fmt.Errorf("%s: weights are laid once they are quantised", what)
	}
	if err := checkFour(what, to, w, n, k); err != nil {
		return err
	}
	groups := n * k / fourGroup
	at := device.Launch{Grid: device.D1(over(groups, block/32)), Block: device.D1(block)}
	return l.queue.Launch(l.kernels["quantise"], at, w, to.Codes, to.Scales, to.Zeros, groups)
}

// Dequantise writes weights as halves, w [n, k].
func (l *Layers) Dequantise(w Halves, from Four, n, k int) error {
	if err := checkFour(fmt.Sprintf("dequantising [%d, %d]", n, k), from, w, n, k); err != nil {
		return err
	}
	kernel, outputs := "dequantise", n
	if from.Laid {
		kernel, outputs = "dequantise_laid", over(n, tall)*tall
	}
	at := device.Launch{Grid: device.D1(over(outputs*k/8, block)), Block: device.D1(block)}
	return l.queue.Launch(l.kernels[kernel], at, from.Codes, from.Scales, from.Zeros, w, k, n)
}

func checkFour(what string, f Four, w Halves, n, k int) error {
	if k%fourGroup != 0 {
		return fmt.Errorf("%s: K must be a multiple of %d, so that every group of weights is whole", what, fourGroup)
	}
	outputs := n
	if f.Laid {
		outputs = over(n, tall) * tall
	}
	return check(what, []int{n, k}, k, of("w", w, n*k), of("codes", f.Codes, outputs*k/2), of("scales", f.Scales, outputs*k/fourGroup), of("zeros", f.Zeros, outputs*k/fourGroup))
}

// Losses adds to sums[row] how unlikely its target is by the row's logits [rows, width]: the negative logarithm
// of its probability. A target that there is not gives NaN.
func (l *Layers) Losses(sums device.Buffer[float64], logits Floats, targets Ints, rows, width int) error {
	what := fmt.Sprintf("losses of [%d, %d]", rows, width)
	if err := check(what, []int{rows, width}, 0, of("sums", sums, rows), of("logits", logits, rows*width), of("targets", targets, rows)); err != nil {
		return err
	}
	return l.queue.Launch(l.kernels["losses"], device.Launch{Grid: device.D1(rows), Block: device.D1(256)}, sums, logits, targets, width)
}
