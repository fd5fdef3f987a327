package half

import (
	"fmt"

	"flashlab/device"
)

// What linear.cu and product.cu have.
const (
	fewRows = 16  // beyond, arithmetic costs more than reading the weights
	tall    = 16  // outputs of a tile of linear.cu
	threads = 256 // of its blocks
)

// tile is one of product.cu's kernels: rows and columns of a block's tile, and its threads.
type tile struct {
	kernel        string
	side, threads int
}

var small, large = tile{"product_64", 64, 128}, tile{"product_128", 128, 256}

// shared is the bytes of shared memory that product.cu lays out: three stages of 64 numbers a line.
func (t tile) shared() int { return 3 * 2 * t.side * 64 * 2 }

// Linear writes y [rows, width] = x [rows, in] · wᵀ, where w is [width, in].
func (l *Layers) Linear(y, x, w Halves, rows, in, width int) error {
	what := fmt.Sprintf("linear layer of x [%d, %d] with w [%d, %d]", rows, in, width, in)
	if err := check(what, []int{rows, in, width}, in, of("x", x, rows*in), of("w", w, width*in), of("y", y, rows*width)); err != nil {
		return err
	}
	if rows <= fewRows {
		// Of 16 rows, two tiles a block share what they read of x, where there are more blocks than run at once.
		kernel, wide, tiles := "linear_8", 1, 1
		many := over(width, tall) > 2*l.processors
		if rows > 8 {
			kernel, wide = "linear_16", 2
			if many {
				tiles = 2
			}
		}
		if many {
			kernel += "_many"
		}
		return l.launch(kernel, device.D2(over(width, tall*tiles), over(rows, 8*wide)), threads, 0, x, w, y, rows, in, width)
	}
	if l.tiled(rows, width) {
		return l.hoppers(plainTiles, y, x, w, rows, in, width)
	}
	by := large
	if over(rows, by.side)*over(width, by.side) < l.processors {
		by = small
	}
	return l.launch(by.kernel, device.D1(over(rows, by.side)*over(width, by.side)), by.threads, by.shared(), x, w, y, rows, in, width)
}

// Logits is Linear whose results are float32, as a model's head has them.
func (l *Layers) Logits(y Floats, x, w Halves, rows, in, width int) error {
	what := fmt.Sprintf("logits of x [%d, %d] with w [%d, %d]", rows, in, width, in)
	if err := check(what, []int{rows, in, width}, in, of("x", x, rows*in), of("w", w, width*in), of("y", y, rows*width)); err != nil {
		return err
	}
	kernel, atOnce := "logits_8", 8
	if rows > 8 {
		kernel, atOnce = "logits_16", 16
	}
	return l.launch(kernel, device.D2(over(width, 2*tall), over(rows, atOnce)), threads, 0, x, w, y, rows, in, width)
}
