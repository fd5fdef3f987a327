package flash

// DefaultTiles is what New takes: queries of a block, a warp each, and keys of a tile, a lane each.
var DefaultTiles = Tiles{Queries: 16, Keys: 32}

var smallTiles = DefaultTiles

const (
	heedless = false // of heads: a block takes rows of any, and is told how many there are
	fours    = false // rows are read by four numbers at a time, where the kernel is told that they may
)

var entries = []sized{{name: "flash", dim: 128}}

// wanted says what other tiles would have to be.
func (t Tiles) wanted() string {
	if t.Queries < 1 || t.Queries > 16 || t.Keys != 32 {
		return "this one takes 1 to 16 queries, and 32 keys"
	}
	return ""
}

// threads of a block: a warp for each query.
func (t Tiles) threads() int { return 32 * t.Queries }

// shared is the bytes of dynamic shared memory.
func (t Tiles) shared(int) int { return 0 }
