package main

import (
	"encoding/xml"
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
