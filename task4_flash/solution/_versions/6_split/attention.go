package flash

// DefaultTiles is what New takes, where a block may have that much shared memory.
var DefaultTiles = Tiles{Queries: 128, Keys: 64}

var smallTiles = Tiles{Queries: 64, Keys: 32} // for GPUs with 100 KB

const (
	heedless = false // of heads: a block takes rows of any, and is told how many there are
	fours    = true  // rows are read by four numbers at a time, where the kernel is told that they may
)

var entries = []sized{{name: "flash", dim: 64, defined: true}, {name: "flash", dim: 128, defined: true}}

// wanted says what other tiles would have to be.
func (t Tiles) wanted() string {
	if t.Queries < 16 || t.Keys < 16 || t.Queries%16 != 0 || t.Keys%16 != 0 || t.Queries > 128 {
		return "both must be multiples of 16, and the queries at most 128"
	}
	return ""
}

// threads of a block: a warp for 16 queries.
func (t Tiles) threads() int { return 2 * t.Queries }

// shared is the bytes of kernels.cu's struct Shared: two halves for each number of the queries, of
// keys and of values, and the scales of every 8 rows, in whole 16 bytes. Each row is eight numbers
// longer than it needs to be.
func (t Tiles) shared(dim int) int {
	scales := func(rows int) int { return (rows/8 + 3) / 4 * 16 }
	return 4*(dim+8)*(t.Queries+2*t.Keys) + scales(t.Queries) + 2*scales(t.Keys)
}
