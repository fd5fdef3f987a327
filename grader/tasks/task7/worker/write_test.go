package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/tasks/talk"
	"flashlab/grader/tasks/task7/asked"
	"flashlab/nn/gpt2"
)

// folder has a config and, unless it is empty, a vocabulary of the single bytes
// and one token more.
func folder(t *testing.T, vocabularySize string, vocab string) string {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("config.json", `{"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 9, "vocab_size": `+vocabularySize+`}`)
	if vocab != "" {
		write("vocab.json", vocab)
		write("merges.txt", "#version: 0.2\n")
	}
	return dir
}

func TestWhichModelAndVocabulary(t *testing.T) {
	w, v, err := choices{model: "124M"}.open()
	require.NoError(t, err)
	assert.Equal(t, 12, w.Config().Layers)
	assert.Equal(t, 50257, v.Size())

	w, v, err = choices{model: folder(t, "50257", "")}.open()
	require.NoError(t, err)
	assert.Contains(t, w.About(), "random")
	assert.Equal(t, 50257, v.Size(), "GPT-2's own, by the number of tokens")

	_, v, err = choices{model: folder(t, "300", "")}.open()
	require.NoError(t, err)
	assert.Nil(t, v)

	_, _, err = choices{model: folder(t, "300", "{")}.open()
	assert.ErrorContains(t, err, "vocab.json")
	_, _, err = choices{model: "no such folder"}.open()
	assert.ErrorContains(t, err, "MODEL=no such folder")
	_, _, err = choices{model: "write_test.go"}.open()
	assert.ErrorContains(t, err, "is a file")
	_, _, err = choices{}.open()
	assert.NoError(t, err)
}

func TestPrompts(t *testing.T) {
	_, v, err := choices{model: "124M"}.open()
	require.NoError(t, err)
	c := gpt2.Sizes["124M"]
	got, err := choices{prompt: "Hello world"}.encode(v, c)
	require.NoError(t, err)
	assert.Equal(t, []int32{15496, 995}, got)
	got, err = choices{}.encode(v, c)
	require.NoError(t, err)
	assert.Equal(t, []int32{50256}, got, "a text begins behind the end of another")
	got, err = choices{promptTokens: 512, prompt: "x"}.encode(v, c)
	require.NoError(t, err)
	assert.Len(t, got, 512)
	got, err = choices{prompt: "ab"}.encode(nil, gpt2.Config{Vocabulary: 98})
	require.NoError(t, err)
	assert.Equal(t, []int32{97, 0}, got)
}

func TestErrorsNameTheTask(t *testing.T) {
	assert.NoError(t, mend(4, nil))
	stub := mend(6, mend(4, attn.ErrNotImplemented))
	assert.ErrorIs(t, stub, attn.ErrNotImplemented)
	assert.ErrorContains(t, stub, "task4_flash is still the stub")
	assert.EqualError(t, talk.Advice(stub), "task4_flash is still the stub (not implemented), and the model runs on it: finish it first (make grade TASK=4), or set KERNELS=given to run the course's own kernels")
	broken := mend(5, errors.New("no room"))
	assert.ErrorContains(t, broken, "task5_decode, as the layer of task6_e2e calls it: no room (make grade TASK=5")
	assert.Equal(t, broken, talk.Advice(broken))
	assert.ErrorContains(t, mend(6, errors.New("no room")), "task6_e2e: no room")
}

func TestTimesAreShort(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"1.23s": 1234567 * time.Microsecond, "12.3ms": 12345678 * time.Nanosecond, "4.57µs": 4567 * time.Nanosecond, "12ns": 12,
	} {
		assert.Equal(t, want, talk.Short(d))
	}
}

// TestWhatIsAskedIsRead: each flag that the command hands on is one of the program's, which has three more.
func TestWhatIsAskedIsRead(t *testing.T) {
	more := map[string]bool{}
	(&choices{}).flags().VisitAll(func(f *flag.Flag) { more[f.Name] = true })
	for _, one := range asked.Flags {
		assert.True(t, more[one.Name], one.Name)
		delete(more, one.Name)
	}
	assert.Equal(t, map[string]bool{"device": true, "kernels": true, "json": true}, more)
}
