package copies

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWinnowing(t *testing.T) {
	var many []Token
	for i := range 500 {
		many = append(many, Token{Kind: uint32(i % 97)})
	}
	g := Grams(many)
	assert.Len(t, g, 500-Gram+1)
	assert.Equal(t, g[0], g[97], "the same tokens elsewhere have the same hash")
	kept := Prints(many)
	last := int32(-1)
	for _, p := range kept {
		assert.LessOrEqual(t, int(p.At-last), Window, "no window is without one")
		last = p.At
	}
	assert.Len(t, Prints(many[:Gram]), 1)
	assert.Empty(t, Prints(many[:Gram-1]))
}
