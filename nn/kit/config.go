package kit

import "fmt"

// What all models here have in common.
const (
	Epsilon = 1e-5  // of Norm
	Base    = 10000 // of Rotate
)

// Config is the shape of a model, and what it has room for: Batch sequences of up to Slots tokens.
type Config struct {
	Batch, Slots, Layers, Hidden, Heads, KVHeads, Dim, MLP, Vocabulary int
}

// QKV is the width of a token's queries, keys and values together.
func (c Config) QKV() int { return (c.Heads + 2*c.KVHeads) * c.Dim }

// Check tells what is wrong with a shape.
func (c Config) Check() error {
	switch {
	case min(c.Batch, c.Slots, c.Layers, c.Hidden, c.Heads, c.KVHeads, c.Dim, c.MLP, c.Vocabulary) < 1:
		return fmt.Errorf("%+v: every size must be at least 1", c)
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("%+v: %d query heads cannot share %d key heads evenly", c, c.Heads, c.KVHeads)
	case c.Dim%2 != 0 || c.Slots%CacheGroup != 0:
		return fmt.Errorf("%+v: Dim must be even, and Slots a multiple of %d", c, CacheGroup)
	case c.Hidden%WeightGroup != 0 || c.MLP%WeightGroup != 0 || c.Heads*c.Dim%WeightGroup != 0:
		return fmt.Errorf("%+v: Hidden, MLP and Heads × Dim must be multiples of %d, so that groups of weights are whole", c, WeightGroup)
	}
	return nil
}

// Name names one of a model's weights.
type Name struct {
	Kind  Kind
	Layer int // 0 for those that are no layer's
}

// Kind is a weight's place in the model.
type Kind int

// The weights of a model: one table, six of each layer, and two behind the last.
const (
	Embedding Kind = iota // [Vocabulary, Hidden]
	Norm1                 // [Hidden], before attention
	QKV                   // [(Heads + 2 KVHeads) × Dim, Hidden]
	Out                   // [Hidden, Heads × Dim]
	Norm2                 // [Hidden], before the MLP
	GateUp                // [2 × MLP, Hidden]
	Down                  // [Hidden, MLP]
	Last                  // [Hidden], the norm before the head
	Head                  // [Vocabulary, Hidden]
)

// Elements is how many numbers a weight has.
func (c Config) Elements(k Kind) int {
	return [...]int{c.Vocabulary * c.Hidden, c.Hidden, c.QKV() * c.Hidden, c.Hidden * c.Heads * c.Dim, c.Hidden,
		2 * c.MLP * c.Hidden, c.Hidden * c.MLP, c.Hidden, c.Vocabulary * c.Hidden}[k]
}

// Checkpoint is where weights come from, in halves.
type Checkpoint interface {
	// Load fills a buffer, which has the weight's size.
	Load(to Halves, n Name) error
}
