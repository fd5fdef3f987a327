package fates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fates.txt")
	key, other := strings.Repeat("0123", 16), strings.Repeat("4567", 16)
	never := func(string) bool { return false }
	k, err := Read(path)
	require.NoError(t, err)
	assert.False(t, k.Has("a", key))
	require.NoError(t, k.Write(never))
	assert.NoFileExists(t, path, "nothing has changed")
	k.Note("a", key, true)
	k.Note("b", other, true)
	k.Note("c", key, false)
	require.NoError(t, k.Write(never))

	k, err = Read(path)
	require.NoError(t, err)
	assert.True(t, k.Has("a", key))
	assert.False(t, k.Has("a", other), "what decides has changed")
	assert.True(t, k.Has("b", other))
	assert.False(t, k.Has("c", key), "it did not meet its fate")
	before, err := os.Stat(path)
	require.NoError(t, err)
	k.Note("a", key, true)
	require.NoError(t, k.Write(never))
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime(), "nothing has changed")

	k.Note("a", key, false)
	require.NoError(t, k.Write(func(name string) bool { return name == "b" }))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Len(t, strings.Split(strings.TrimSpace(string(text)), "\n"), 1, "but for the heading: a failed, and b is gone")
}

func TestADamagedRecordIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fates.txt")
	for _, text := range []string{"0123 a\n", "<<<<<<< HEAD\n", "0123456701234567 a b\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := Read(path)
		assert.ErrorContains(t, err, "delete the file")
	}
}
