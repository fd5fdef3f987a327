package tiles

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/figure"
)

func TestThePictureOfTilesHoldsTheRightOnes(t *testing.T) {
	tried := []verdict.Tuned{
		{Tiles: problem.Tiles{Queries: 64, Keys: 16}, Ratio: 2.5, Passes: 200_000, Time: 2 * time.Millisecond},
		{Tiles: problem.Tiles{Queries: 32, Keys: 16}, Ratio: 4.5, Passes: 300_000, Time: 3 * time.Millisecond},
		{Tiles: problem.Tiles{Queries: 32, Keys: 8}, Ratio: 4.5, Passes: 400_000, Time: time.Millisecond},
		{Tiles: problem.Tiles{Queries: 128, Keys: 16}, Wrong: "too much shared memory"},
		{Tiles: problem.Tiles{Queries: 16, Keys: 16}}, // nothing was counted
	}
	f := Of(tried, 64, false)
	assert.Equal(t, []figure.Series{
		{Name: "8 keys", Style: figure.Line, Points: []figure.Point{{X: 4.5, Y: 0.4, Word: "32"}}},
		{Name: "16 keys", Style: figure.Line, Points: []figure.Point{{X: 4.5, Y: 0.3}, {X: 2.5, Y: 0.2, Word: "64"}}},
	}, f.Series)
	assert.Equal(t, figure.Point{X: 32, Y: 1000}, Of(tried, 64, true).Series[0].Points[0])
	assert.True(t, Of(tried[3:], 64, false).Empty())
}
