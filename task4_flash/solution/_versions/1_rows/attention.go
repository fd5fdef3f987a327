package flash

// DefaultTiles is what New takes: queries of a block, a warp each. There are no tiles of keys here.
var DefaultTiles = Tiles{Queries: 8, Keys: 1}

var smallTiles = DefaultTiles

const (
	heedless = true  // of heads: a block takes rows of any, and is told how many there are
	fours    = false // rows are read by four numbers at a time, where the kernel is told that they may
)

var entries = []sized{{name: "flash", dim: 128}}

// wanted says what other tiles would have to be.
func (t Tiles) wanted() string {
	if t.Queries < 1 || t.Queries > 32 {
		return "want 1 to 32 queries, a warp each"
	}
	return ""
}

// threads of a block: a warp for each query.
func (t Tiles) threads() int { return 32 * t.Queries }

// shared is the bytes of dynamic shared memory.
func (t Tiles) shared(int) int { return 0 }
