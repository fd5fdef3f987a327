package bpe

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
)

// TestTokenizersOfLlamas holds LoadJSON against Hugging Face's tokenizers (testdata/llama.py).
func TestTokenizersOfLlamas(t *testing.T) {
	for _, name := range []string{"llama", "digits"} {
		k, err := LoadJSON(os.DirFS("testdata/" + name))
		require.NoError(t, err)
		assert.Equal(t, 425, k.Size())
		for _, c := range known(t, name+".json") {
			assert.Equal(t, append([]int32{}, c.Tokens...), k.Encode(c.Text), "%s: %q", name, c.Text)
			text, begins := strings.CutPrefix(decoded(k, c.Tokens), "<|begin_of_text|>")
			assert.Equal(t, name == "llama" || c.Text == "<|begin_of_text|>", begins, "%s: %q", name, c.Text)
			if begins && name == "digits" {
				continue
			}
			assert.Equal(t, c.Text, text, name)
		}
		assert.Equal(t, "a\ufffdb", strings.TrimPrefix(decoded(k, k.Encode("a\xffb")), "<|begin_of_text|>"))
	}
	k, err := LoadJSON(os.DirFS("testdata/one")) // GPT-2's form
	require.NoError(t, err)
	agree(t, k, "small.json")
}

func TestTokenizersThatAreNotRead(t *testing.T) {
	data, err := os.ReadFile("testdata/llama/tokenizer.json")
	require.NoError(t, err)
	good := string(data)
	for _, c := range []struct{ old, new, want string }{
		{`"BPE"`, `"Unigram"`, `a model of type "Unigram": want BPE`},
		{`"byte_fallback":false`, `"byte_fallback":true`, "SentencePiece's BPE, as Llama 2 has"},
		{`"dropout":null`, `"dropout":0.1`, "dropout"},
		{`"normalizer":null`, `"normalizer":{"type":"NFKC"}`, `a normalizer "NFKC": want none`},
		{`"decoder":{"type":"ByteLevel"`, `"decoder":{"type":"Metaspace"`, "the decoder is not ByteLevel"},
		{`"behavior":"Isolated"`, `"behavior":"Removed"`, `a pre_tokenizer Split (behavior "Removed", invert = false)`},
		{`"type":"Split"`, `"type":"Metaspace"`, `a pre_tokenizer "Metaspace": want Split or Digits, then ByteLevel`},
		{`"Regex":"`, `"Regex":"(`, "the pre_tokenizer's pattern "},
		{`"pre_tokenizer":{"type":"Sequence"`, `"pre_tokenizer":{"type":"Whitespace"`, "does not end with ByteLevel"},
		{`"add_prefix_space":false`, `"add_prefix_space":true`, "add_prefix_space = true"},
		{`"lstrip":false`, `"lstrip":true`, "has single_word, lstrip or rstrip"},
		{`"type":"TemplateProcessing"`, `"type":"RobertaProcessing"`, `a post_processor "RobertaProcessing"`},
		{`"special_tokens":{"<|begin_of_text|>"`, `"special_tokens":{"<|x|>"`, `puts in "<|begin_of_text|>", which its special_tokens do not have`},
		{`"merges":[`, `"merges":[["q","q"],`, `pair 1 is "q q"`},
		{`"merges":`, `merges:`, "tokenizer.json: "},
	} {
		require.Contains(t, good, c.old)
		_, err := LoadJSON(fstest.MapFS{tokenizerFile: {Data: []byte(strings.Replace(good, c.old, c.new, 1))}})
		assert.ErrorContains(t, err, c.want, c.new)
	}
	_, err = LoadJSON(fstest.MapFS{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func FuzzLoadJSON(f *testing.F) {
	data, err := os.ReadFile("testdata/llama/tokenizer.json")
	require.NoError(f, err)
	f.Add(data, "text")
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, data []byte, text string) {
		if k, err := LoadJSON(fstest.MapFS{tokenizerFile: {Data: data}}); err == nil {
			k.Encode(text) // never a panic
		}
	})
}
