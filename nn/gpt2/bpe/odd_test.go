package bpe

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/nn/gguf"
	"flashlab/nn/gguf/gguftest"
)

// oddities are 2,000 strings of digits, emoji, code, control bytes and special tokens, with the ids that Hugging Face's
// tokenizers makes of them by SmolLM2's rules (testdata/smollm.py): of a small vocabulary that lacks many bytes, and of
// SmolLM2's own.
func oddities(t *testing.T) (all struct {
	Texts       []string
	Small, Real [][]int32
}) {
	t.Helper()
	file, err := os.Open("testdata/odd.json.gz")
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(z).Decode(&all))
	require.Len(t, all.Texts, 2000)
	require.Len(t, all.Small, 2000)
	require.Len(t, all.Real, 2000)
	return all
}

func sameIDs(t *testing.T, k *Tokenizer, texts []string, want [][]int32) {
	t.Helper()
	dropped := 0
	for i, text := range texts {
		got := k.Encode(text)
		require.Equal(t, want[i], append([]int32{}, got...), "%q", text)
		if decoded(k, got) != text {
			dropped++
		}
	}
	assert.NotZero(t, dropped, "some strings hold bytes that the vocabulary lacks")
	t.Logf("%d of %d strings lose bytes", dropped, len(texts))
}

// TestOddStrings: the same vocabulary from tokenizer.json and from GGUF's lists.
func TestOddStrings(t *testing.T) {
	all := oddities(t)
	k, err := LoadJSON(os.DirFS("testdata/smollm"))
	require.NoError(t, err)
	sameIDs(t, k, all.Texts, all.Small)
	data, err := os.ReadFile("testdata/smollm/tokenizer.json")
	require.NoError(t, err)
	k, err = FromGGUF(metadata(t, data, nil))
	require.NoError(t, err)
	sameIDs(t, k, all.Texts, all.Small)
}

// TestOddStringsOfSmolLM2: the real vocabulary, of the file that make chat fetches.
func TestOddStringsOfSmolLM2(t *testing.T) {
	file, err := os.Open(gguftest.SmolLM2(t))
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	f, err := gguf.Parse(file, info.Size())
	require.NoError(t, err)
	k, err := FromGGUF(f.Metadata)
	require.NoError(t, err)
	all := oddities(t)
	sameIDs(t, k, all.Texts, all.Real)
}

// metadata is a tokenizer.json as a GGUF file has it, changed.
func metadata(t *testing.T, data []byte, change func(m map[string]any)) gguf.Metadata {
	t.Helper()
	m := map[string]any{"tokenizer.ggml.pre": "smollm"}
	gguftest.Vocabulary(t, m, data)
	if change != nil {
		change(m)
	}
	file := gguftest.File(m, nil)
	f, err := gguf.Parse(strings.NewReader(string(file)), int64(len(file)))
	require.NoError(t, err)
	return f.Metadata
}

func TestGGUFTokenizersThatAreNotRead(t *testing.T) {
	data, err := os.ReadFile("testdata/smollm/tokenizer.json")
	require.NoError(t, err)
	for want, change := range map[string]func(m map[string]any){
		`tokenizer.ggml.model = "llama": want "gpt2"`:            func(m map[string]any) { m["tokenizer.ggml.model"] = "llama" },
		`tokenizer.ggml.pre = "tekken": want one of gpt-2, gpt2`: func(m map[string]any) { m["tokenizer.ggml.pre"] = "tekken" },
		"there are 245 tokens and 1 token types":                 func(m map[string]any) { m["tokenizer.ggml.token_type"] = []int32{1} },
		"there are 0 tokens and 245 token types":                 func(m map[string]any) { delete(m, "tokenizer.ggml.tokens") },
		`token 20, "y", is of type 6`: func(m map[string]any) {
			m["tokenizer.ggml.tokens"].([]string)[20] = "y"
			m["tokenizer.ggml.token_type"].([]int32)[20] = 6
		},
		`pair 1 is "q q"`: func(m map[string]any) { m["tokenizer.ggml.merges"] = []string{"q q"} },
		"tokenizer.ggml.bos_token_id = 999, which the vocabulary": func(m map[string]any) {
			m["tokenizer.ggml.add_bos_token"], m["tokenizer.ggml.bos_token_id"] = true, uint32(999)
		},
		`token 31 is "x", as token 30 is, or it has no text`: func(m map[string]any) {
			m["tokenizer.ggml.tokens"].([]string)[30], m["tokenizer.ggml.tokens"].([]string)[31] = "x", "x"
		},
		"tokenizer.ggml.merges = 7: want a list of texts": func(m map[string]any) { m["tokenizer.ggml.merges"] = uint32(7) },
		`"a b": the character ' ' stands for no byte`:     func(m map[string]any) { m["tokenizer.ggml.tokens"].([]string)[25] = "a b" },
	} {
		_, err := FromGGUF(metadata(t, data, change))
		assert.ErrorContains(t, err, "its tokenizer: ")
		assert.ErrorContains(t, err, want)
	}
	k, err := FromGGUF(metadata(t, data, func(m map[string]any) {
		m["tokenizer.ggml.add_bos_token"], m["tokenizer.ggml.bos_token_id"] = true, uint32(1)
	}))
	require.NoError(t, err)
	assert.EqualValues(t, 1, k.Encode("x")[0], "the token to begin with")
	assert.NotEqualValues(t, 1, k.Plain("x")[0])
}

// TestMarksThatSomebodyTypes: special tokens are found in a text, and stay words where they are typed.
func TestMarksThatSomebodyTypes(t *testing.T) {
	k, err := LoadJSON(os.DirFS("testdata/smollm"))
	require.NoError(t, err)
	end, ok := k.Special("<|im_end|>")
	require.True(t, ok)
	assert.Equal(t, []int32{end}, k.Encode("<|im_end|>"))
	assert.NotContains(t, k.Plain("x<|im_end|>"), end)
	assert.Equal(t, k.Encode("sum += x[i];"), k.Plain("sum += x[i];"))
	_, ok = k.Special("sum")
	assert.False(t, ok)
	gpt2, err := GPT2()
	require.NoError(t, err)
	end, ok = gpt2.Special(EndOfText)
	assert.True(t, ok)
	assert.Equal(t, []int32{end}, gpt2.Encode(EndOfText))
	assert.NotContains(t, gpt2.Plain(EndOfText), end)
}

// TestBytesThatAVocabularyLacks are dropped in every form of file; where a token stands for them, the file is refused.
func TestBytesThatAVocabularyLacks(t *testing.T) {
	const vocab, merges = `{"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}`, "a b\n"
	folder := fstest.MapFS{vocabFile: {Data: []byte(vocab)}, mergesFile: {Data: []byte(merges)}}
	k, err := Load(folder)
	require.NoError(t, err)
	assert.Equal(t, []int32{2, 2, 0, 1, 3}, k.Encode("ab acb a\x04b<|endoftext|>"), "what is dropped stands between no two of a word")
	end, ok := k.End()
	assert.True(t, ok)
	assert.EqualValues(t, 3, end)
	const file = `{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "unk_token": null},
		"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"}, "added_tokens": [{"id": 3, "content": "<|endoftext|>"}]}`
	one := func(text string) fstest.MapFS { return fstest.MapFS{tokenizerFile: {Data: []byte(text)}} }
	for name, load := range map[string]func(fstest.MapFS) (*Tokenizer, error){
		"Load": func(f fstest.MapFS) (*Tokenizer, error) { return Load(f) }, "LoadJSON": func(f fstest.MapFS) (*Tokenizer, error) { return LoadJSON(f) },
	} {
		k, err := load(one(file))
		require.NoError(t, err, name)
		assert.Equal(t, []int32{2, 2, 0, 1, 3}, k.Encode("ab acb a\x04b<|endoftext|>"), name)
		_, err = load(one(strings.Replace(file, `"unk_token": null`, `"unk_token": "a"`, 1)))
		assert.ErrorContains(t, err, `byte 0x00: the vocabulary has no "Ā", and unk_token is "a": want all bytes, or no unk_token`, name)
	}
}
