package main

import (
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

func TestDrawingsAreUpToDate(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for name, draw := range drawings {
		text, err := os.ReadFile(filepath.Join(root, "docs/drawings", name))
		require.NoError(t, err)
		assert.Equal(t, draw(), string(text), "%s: go run ./grader/bench/drawings docs/drawings", name)
		require.NoError(t, xml.Unmarshal(text, new(struct{})), name)
	}
}

func TestWhatTheyShow(t *testing.T) {
	assert.Equal(t, 32, passes(32))
	assert.Equal(t, 1, passes(33))
	assert.Equal(t, 4, sectorsOf(1))
	assert.Equal(t, 32, sectorsOf(8))
	// Against the mask itself, score by score.
	for _, shift := range []int{-5, 0, 3, 8} {
		for query := 0; query < 16; query += 4 {
			for key := 0; key < 24; key += 4 {
				seen := 0
				for i := range 4 {
					for j := range 4 {
						if key+j <= query+i+shift {
							seen++
						}
					}
				}
				want := partial
				if seen == 16 {
					want = full
				} else if seen == 0 {
					want = leftOut
				}
				assert.Equal(t, want, kindOf(query, key, 4, shift), "queries %d, keys %d, shift %d", query, key, shift)
			}
		}
	}
}

// Every element has one thread, and each thread as many; a merged sum is the softmax over all keys.
func TestThreadsAndWarps(t *testing.T) {
	held := map[[2]int]int{}
	for row := range 16 {
		for col := range 32 {
			tx, ty := ownerOf(row, col, 4, 4)
			held[[2]int{tx, ty}]++
		}
	}
	require.Len(t, held, 16)
	for thread, n := range held {
		assert.Equal(t, 32, n, thread)
	}
	for n := 1; n <= len(drawnScores); n++ {
		all := partialSum{m: math.Inf(-1)}
		for w := range 4 {
			all = all.merge(found(drawnScores, drawnValues, w, 4, n))
		}
		var sum, out float64
		for j := range n {
			sum += math.Exp(drawnScores[j])
			out += math.Exp(drawnScores[j]) * drawnValues[j]
		}
		assert.InDelta(t, out/sum, all.acc/all.l, 1e-12, n)
	}
}
