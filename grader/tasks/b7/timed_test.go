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
// share it gives it weight: that would be right, and gain time by no fewer bits. Some of the heads give
// half of their weight to few keys all the same.
func TestTimedStepsNeedEveryValue(t *testing.T) {
	for _, bits := range []int{8, 4} {
		unread, few := unread(t, bits, decodeOp(bits).Timed.Dist)
		assert.Zero(t, unread, "%d bits", bits)
		assert.GreaterOrEqual(t, few, 3, "%d bits", bits)
	}
	// With sizes that grow from head to head, whole groups of heads are large.
	unread, _ := unread(t, 8, tensor.Uneven)
	assert.Greater(t, unread, 6*256/4)
}

// unread counts the tiles of 16 keys, of six key heads, whose weights come to less than an output is rounded
// by, were all tiles like them; and the key heads of which one tile has half of a query's weight.
func unread(t *testing.T, bits int, dist tensor.Dist) (tiles, few int) {
	const tile, little = 16, 1e-3
	for pair := range 6 {
		largest := 0.0
		for _, weight := range tileWeights(t, bits, dist, pair, tile) {
			if weight < little*tile/4096 {
				tiles++
			}
			largest = max(largest, weight)
		}
		if largest > 0.5 {
			few++
		}
	}
	return tiles, few
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
