package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/command"
	"flashlab/internal/repo"
)

// What make help shows without a grader is what the grader would say, and fits a screen.
func TestHelpFitsOneScreen(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for folder, list := range map[string]command.List{"": commands, "grader/release/tree": commonCommands(nil)} {
		want, err := list.Screen(filepath.Join(root, folder, "Makefile"), filepath.Join(root, "scripts", "commands.mk"))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(root, folder, "scripts", "help.txt"))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), "make screens writes it")
		lines := strings.Split(strings.TrimSuffix(want, "\n"), "\n")
		assert.GreaterOrEqual(t, len(lines), 24)
		assert.LessOrEqual(t, len(lines), 30)
		for _, line := range lines {
			assert.LessOrEqual(t, len([]rune(line)), 80, line)
		}
	}
}
