package nn

import "fmt"

// What linear.cu and gemm.cu are written for.
const (
	linearBlock = 256 // threads
	fewRows     = 16  // beyond, arithmetic costs more than reading the weights
	smallTile   = 64
	largeTile   = 128
)

// Kernels of our own, not cuBLAS: they run on the simulator too, so a model has one
// code path, and they go to the queue (and into a recorded graph) like all others,
// where gorgonia's cuBLAS would bring a handle and a stream of its own. README.md
// says more.

// Linear writes out [rows, width] = x [rows, in] · wᵀ + bias [width], where w is
// [width, in]; the zero Buffer means no bias. out may not overlap the others.
func (l *Layers) Linear(out, x, w, bias F, rows, in, width int) error {
	hasBias := bias != F{}
	if !hasBias {
		bias = w // never read: a kernel wants an address all the same
	}
	what := func() string {
		return fmt.Sprintf("linear layer of x [%d, %d] with w [%d, %d]", rows, in, width, in)
	}
	sizes := []size{of("out", out, rows*width), of("x", x, rows*in), of("w", w, width*in)}
	if hasBias {
		sizes = append(sizes, of("bias", bias, width))
	}
	if err := check(what, []int{rows, in, width}, sizes...); err != nil {
		return err
	}
	aligned := wide(in, x, w)
	if rows <= fewRows {
		return l.few(out, x, w, bias, rows, in, width, hasBias, aligned)
	}
	kernel, tile := "gemm_128", largeTile
	if blocks := tiles(rows, tile) * tiles(width, tile); blocks < l.processors {
		kernel, tile = "gemm_64", smallTile
	}
	return l.launch(kernel, tiles(rows, tile)*tiles(width, tile), linearBlock,
		x, w, bias, out, rows, in, width, hasBias, aligned, wide(width, out))
}

// few is for decoding. Two columns a warp halve what is read of x; but as long as
// the warps are few, more of them read faster.
func (l *Layers) few(out, x, w, bias F, rows, in, width int, hasBias, aligned bool) error {
	const warps = linearBlock / 32
	outputs := 1
	if aligned && width >= 2*warps*l.processors {
		outputs = 2
	}
	kernel, atOnce := "linear_8", 8 // rows that share one reading of the weights
	switch {
	case rows == 1:
		kernel, atOnce = "linear_1", 1
	case rows == 2:
		kernel, atOnce = "linear_2", 2
	case rows <= 4:
		kernel, atOnce = "linear_4", 4
	}
	return l.launch(kernel, tiles(rows, atOnce)*tiles(width, warps*outputs), linearBlock,
		x, w, bias, out, rows, in, width, hasBias, aligned, outputs)
}

// tiles is how many of a size cover n.
func tiles(n, size int) int { return (n + size - 1) / size }
