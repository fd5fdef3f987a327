package flash

import "fmt"

// DefaultTiles is what New takes.
var DefaultTiles = Tiles{Queries: 64, Keys: 64}

var smallTiles = DefaultTiles

const (
	heedless = false // of heads: a block takes rows of any, and is told how many there are
	fours    = false // rows are read by four numbers at a time, where the kernel is told that they may
)

var entries = []sized{{name: "flash", dim: 128}}

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

// shared is the bytes of kernels.cu's struct Shared: q, k, v and the probabilities. Each row is one
// number longer than it needs to be.
func (t Tiles) shared(dim int) int {
	return 4 * ((t.Queries+2*t.Keys)*(dim+1) + t.Queries*(t.Keys+1))
}
