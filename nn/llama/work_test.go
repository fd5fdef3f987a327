package llama

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWork(t *testing.T) {
	// two layers of 4 × 8² + 3 × 8 × 16 = 640 weights, and a head of 80
	c := Config{Hidden: 8, Heads: 2, Layers: 2, Vocabulary: 10, MLP: 16, MaxSeq: 9, Prompt: 5, Batch: 3}
	products := 2.0 * 15 * 2 * 640
	attention := 2 * 3 * 2 * 2 * 8 * 25.0 / 2 // layers, sequences, products, two each, dims, half of the scores
	assert.Equal(t, products+attention+2*3*80, c.Operations())

	norms := 5 * 2 * 8
	cache := 2 * 2 * 3 * 7 * 8 // keys and values, layers, sequences, tokens, width
	assert.EqualValues(t, 4*(2*640+80+norms+3*8+cache), c.Reads(7))

	full := Sizes["full"]
	assert.InDelta(t, 29.28e9, float64(full.Reads(full.Prompt+50)), 0.01e9)
}
