package b7

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// In a timed step no tile of values can be left unread, as it could where none of the query heads that
// share it gives it weight: that would be right, and faster by no fewer bits. And some head of every
// group gives weight to few keys, which is the other thing that sums must stand.
func TestTimedStepsNeedEveryValue(t *testing.T) {
	const tile, little = 16, 1e-3 // half of the bound on an error is less than this
	for _, bits := range []int{8, 4} {
		for _, dist := range []tensor.Dist{decodeOp(bits).Timed.Dist, tensor.Uneven} {
			unread, few := 0, 0
			for pair := range 6 {
				largest := 0.0 // among the tiles' smallest
				for _, share := range tileWeights(t, bits, dist, pair, tile) {
					if share < little/float64(4095/tile) {
						unread++
					}
					largest = max(largest, share)
				}
				if largest > 0.5 {
					few++
				}
			}
			t.Logf("%d bits, %s: %d of %d tiles have no weight; %d of 6 groups have a tile of half the weight", bits, dist, unread, 6*256, few)
			if dist == tensor.Uneven {
				assert.Greater(t, unread, 1, "what the test is for")
				continue
			}
			assert.Zero(t, unread)
			assert.Equal(t, 6, few)
		}
	}
}

// tileWeights are, of each tile of keys of a sequence's key head, the most that one of the four query heads gives it.
func tileWeights(t *testing.T, bits int, dist tensor.Dist, pair, tile int) (most []float64) {
	op := decodeOp(bits)
	spec := op.TimedSpec([]int{1, 32, 8, 4096, 128}, false)
	spec.Dist = dist
	c, err := op.TimedCase(spec)
	require.NoError(t, err)
	c.Seed = 5
	s := c.Decode()
	one := s
	one.Batch, one.Heads, one.KVHeads = 1, 4, 1
	part := cache{bits: bits, s: one.CacheShape}
	for i, to := range part.arrays() {
		n := c.Inputs[1+i].Elements() / s.KVHeads
		*to = judge.InputPart(c, 1+i, pair*n, n)
	}
	k, _ := part.numbers(c.Each, reading{})
	n := c.Each[0]
	most = make([]float64, (n+tile-1)/tile)
	for head := range 4 {
		q := judge.InputPart(c, 0, (4*pair+head)*s.Dim, s.Dim)
		scores, largest, sum := make([]float64, n), math.Inf(-1), 0.0
		for j := range scores {
			for x, at := range q {
				scores[j] += float64(at) * float64(k[j*s.Dim+x]) / math.Sqrt(float64(s.Dim))
			}
			largest = max(largest, scores[j])
		}
		weights := make([]float64, len(most))
		for j, score := range scores {
			weights[j/tile] += math.Exp(score - largest)
			sum += math.Exp(score - largest)
		}
		for i, w := range weights {
			most[i] = max(most[i], w/sum)
		}
	}
	return most
}
