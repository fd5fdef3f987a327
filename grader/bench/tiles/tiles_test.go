package tiles

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/verdict"
)

func TestThePictureOfTilesHoldsTheRightOnes(t *testing.T) {
	tried := []verdict.Tuned{
		{Tiles: problem.Tiles{Queries: 64, Keys: 16}, Ratio: 2.5, Passes: 200_000, Time: 2 * time.Millisecond},
		{Tiles: problem.Tiles{Queries: 32, Keys: 16}, Ratio: 4.5, Passes: 300_000, Time: 3 * time.Millisecond},
		{Tiles: problem.Tiles{Queries: 32, Keys: 8}, Ratio: 4.5, Passes: 400_000, Time: time.Millisecond},
		{Tiles: problem.Tiles{Queries: 128, Keys: 16}, Wrong: "too much shared memory"},
		{Tiles: problem.Tiles{Queries: 16, Keys: 16}}, // nothing was counted
	}
	p := Of(tried, 64, false)
	assert.Equal(t, "•8 keys\t4.5\t0.4\t32\n•16 keys\t4.5\t0.3\t32\n•16 keys\t2.5\t0.2\t64\n", p.table)
	p = Of(tried, 64, true)
	assert.True(t, strings.HasPrefix(p.table, "•8 keys\t32\t1000\n"), p.table)
	assert.Empty(t, Of(tried[3:], 64, false).table)
}
