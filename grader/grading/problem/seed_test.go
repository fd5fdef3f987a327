package problem

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPartsOfAGradingHaveSeedsOfTheirOwn(t *testing.T) {
	assert.Equal(t, SeedOf(1, "softmax/17x113"), SeedOf(1, "softmax/17x113"))
	seen := map[uint64]bool{1: true, 2: true}
	for _, grading := range []uint64{1, 2} {
		for _, part := range []string{"", "softmax/17x113", "softmax/1x1"} {
			seed := SeedOf(grading, part)
			assert.False(t, seen[seed])
			seen[seed] = true
			assert.Equal(t, Random(grading, part).Uint64(), Random(grading, part).Uint64())
			assert.NotEqual(t, Random(grading, part).Uint64(), seed)
		}
	}
}
