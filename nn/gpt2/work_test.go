package gpt2

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWork(t *testing.T) {
	// two layers of 4 × 8² + 2 × 8 × 16 = 512 weights in matrices, and a head of 80
	c := Config{Width: 8, Heads: 2, Layers: 2, Positions: 9, Vocabulary: 10, Inner: 16}
	attention := 2 * 2 * 2 * 8 * 25.0 / 2 // layers, products, two each, dims, half of the scores
	assert.Equal(t, 2.0*5*2*512+attention+2*80, c.Operations(5))

	biases := 2*(3*8+8+16+8+4*8) + 2*8 // of the matrices and of two norms, and the last norm
	cache := 2 * 2 * 7 * 8             // keys and values, layers, tokens, width
	assert.EqualValues(t, 4*(2*512+80+biases+8+cache), c.Reads(7))

	assert.InDelta(t, 494.6e6, float64(Sizes["124M"].Reads(0)), 0.1e6)
}
