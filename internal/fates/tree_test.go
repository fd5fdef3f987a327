package fates

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSumsAtOnce: tests that run in parallel ask one tree.
func TestSumsAtOnce(t *testing.T) {
	root := t.TempDir()
	of := Of{}
	for i := range 100 {
		of.Files = append(of.Files, fmt.Sprintf("%d.toml", i))
		require.NoError(t, os.WriteFile(filepath.Join(root, of.Files[i]), []byte(of.Files[i]), 0o644))
	}
	want, err := (&Tree{root: root, read: os.ReadFile, sums: map[string]string{}}).Sum(of)
	require.NoError(t, err)
	for range 20 {
		tree := &Tree{root: root, read: os.ReadFile, sums: map[string]string{}}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				sum, err := tree.Sum(of)
				assert.NoError(t, err)
				assert.Equal(t, want, sum)
			})
		}
		all.Wait()
	}
}
