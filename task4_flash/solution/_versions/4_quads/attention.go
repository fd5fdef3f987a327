package flash

import "fmt"

// DefaultTiles is what New takes: of those that `make tune TASK=4` tries, near the best on an H100 and small enough for older GPUs.
var DefaultTiles = Tiles{Queries: 64, Keys: 64}

var smallTiles = DefaultTiles

const (
	heedless = false // of heads: a block takes rows of any, and is told how many there are
	fours    = true  // rows are read by four numbers at a time, where the kernel is told that they may
)

var entries = []sized{{name: "flash_64", dim: 64}, {name: "flash_128", dim: 128}}

// wanted says what other tiles would have to be.
func (t Tiles) wanted() string {
	if t.Queries < side || t.Keys < side || t.Queries%side != 0 || t.Keys%side != 0 {
		return fmt.Sprintf("both must be multiples of %d", side)
	}
	return ""
}

// threads of a block: a square, whose side divides both sizes of Tiles.
func (t Tiles) threads() int { return side * side }

const side = 16

// shared is the bytes of shared memory that kernels.cu lays out: q, k or the
// probabilities, v. Rows are padded by four numbers.
func (t Tiles) shared(dim int) int {
	row := dim + 4
	return 4 * (t.Queries*row + max(t.Keys*row, t.Queries*(t.Keys+4)) + t.Keys*row)
}
