package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/nn/gpt2/bpe"
)

// TestCalibrationIsUnseen: no paragraph of the text that is measured is among those that GPTQ rounds for, however
// its lines are broken.
func TestCalibrationIsUnseen(t *testing.T) {
	long := strings.Repeat("the Rays of Light ", 5)
	held := "He measured " + long + "here.\n\nand so on."
	book := "HEADING\r\n\r\nHe _measured_ " + strings.ReplaceAll(long, "of ", "of\r\n") + "here.\r\n\r\nand  so\r\non.\r\n\r\n" +
		"Elsewhere _he_\r\nsaw " + long + "there.\r\n\r\n\r\n" + "In the end he saw " + long
	assert.Equal(t, "Elsewhere he saw "+long+"there.\n\nIn the end he saw "+strings.TrimSpace(long), unseen(book, held))
}

// TestCalibrationIsFromAllOverTheText, in whole pieces.
func TestCalibrationIsFromAllOverTheText(t *testing.T) {
	k, err := bpe.GPT2()
	require.NoError(t, err)
	var book []string
	for _, letter := range "abcdefgh" {
		book = append(book, strings.Repeat(string(letter)+" ", 8000))
	}
	name := filepath.Join(t.TempDir(), "book.txt")
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(book, "\n\n")), 0o644))
	c := choices{calibration: name}
	all := k.Encode(strings.Join(book, "\n\n"))
	tokens, err := c.calibrate(k, "", 1000)
	require.NoError(t, err)
	assert.Len(t, tokens, 16000)
	assert.Equal(t, all[:1000], tokens[:1000])
	assert.Equal(t, all[4000:5000], tokens[1000:2000])
	assert.Contains(t, tokens, k.Encode(" h")[0])

	tokens, err = c.calibrate(k, "", 40000)
	require.NoError(t, err)
	assert.Len(t, tokens, 40000, "a piece at least")
	_, err = c.calibrate(k, strings.Join(book, ""), 1000)
	assert.ErrorContains(t, err, "has 0 tokens that PERPLEXITY's text has not: want 1000 at least")
	_, err = choices{}.calibrate(k, "", 1000)
	assert.ErrorContains(t, err, "CALIBRATION=file")
}

func TestWhatGoesWithWeights(t *testing.T) {
	assert.ErrorContains(t, write([]string{"-weights", "int4"}), "-weights goes with -perplexity")
	assert.ErrorContains(t, write([]string{"-weights", "int4", "-perplexity", "x", "-cache", "int8"}), "without -cache")
	assert.ErrorContains(t, write([]string{"-calibration", "x"}), "-calibration goes with -weights")
}
