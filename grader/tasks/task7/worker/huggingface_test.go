package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/talk"
)

// python puts a program of that name on the path, which says this and nothing else.
func python(t *testing.T, says string) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "python3"), []byte("#!/bin/sh\necho 'a warning'\necho '"+says+"'\n"), 0o755))
	t.Setenv("PATH", dir+":/bin:/usr/bin")
}

func TestHuggingFacesTokensAreCompared(t *testing.T) {
	ref := talk.Writer{Name: "the reference", Tokens: []int32{5, 6, 7}}
	for says, want := range map[string]string{
		`{"tokens": [5, 6, 7]}`:     "the same 3 tokens as the reference",
		`{"tokens": [5, 9, 7]}`:     `the first difference is token 2, "9" where the reference has "6"`,
		`{"missing": "torch"}`:      "not compared: python3 here has no torch (pip install torch transformers)",
		`{"error": "no such file"}`: "not compared: no such file",
		`something else`:            "not compared: its last line is no tokens",
	} {
		python(t, says)
		got := choices{tokens: 3}.huggingFace([]int32{1}, nil)
		assert.Equal(t, "Hugging Face's transformers: "+want, talk.Compared(got, ref, nil))
	}
	t.Setenv("PATH", t.TempDir())
	assert.Equal(t, "not compared: there is no python3", choices{}.huggingFace([]int32{1}, nil).Not)
}
