package bpe

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/mutate"
)

// decoded is what tokens stand for.
func decoded(k *Tokenizer, tokens []int32) string {
	var b strings.Builder
	for _, token := range tokens {
		b.Write(k.Bytes(token))
	}
	return b.String()
}

// known are texts with the tokens that Hugging Face's tokenizers 0.23 makes of
// them; for GPT-2's vocabulary OpenAI's tiktoken makes the same.
func known(t *testing.T, file string) (cases []struct {
	Text   string
	Tokens []int32
}) {
	data, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &cases))
	return cases
}

func agree(t *testing.T, k *Tokenizer, file string) {
	for _, c := range known(t, file) {
		assert.Equal(t, append([]int32{}, c.Tokens...), append([]int32{}, k.Encode(c.Text)...), "%q", c.Text)
		assert.Equal(t, c.Text, decoded(k, c.Tokens), "%q", c.Text)
	}
}

func TestGPT2sOwnVocabulary(t *testing.T) {
	k, err := GPT2()
	require.NoError(t, err)
	assert.Equal(t, 50257, k.Size())
	end, ok := k.End()
	assert.True(t, ok)
	assert.Equal(t, int32(50256), end)
	agree(t, k, "gpt2.json")
}

func TestVocabulariesFromFiles(t *testing.T) {
	for _, dir := range []string{"testdata/small", "testdata/one"} {
		k, err := Load(os.DirFS(dir))
		require.NoError(t, err)
		assert.Equal(t, 600, k.Size())
		end, ok := k.End()
		assert.True(t, ok)
		assert.Zero(t, end)
		agree(t, k, "small.json")
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	for _, k := range both(t) {
		assert.Equal(t, "a\ufffdb\ufffd\ufffd", decoded(k, k.Encode("a\xffb\xe2\x82")))
	}
}

func TestTokensThatAreNotThere(t *testing.T) {
	k := both(t)[0]
	assert.Nil(t, k.Bytes(-1))
	assert.Nil(t, k.Bytes(600))
	assert.Empty(t, decoded(k, []int32{-1, 1 << 30}))
}

func both(t testing.TB) []*Tokenizer {
	small, err := Load(os.DirFS("testdata/small"))
	require.NoError(t, err)
	gpt2, err := GPT2()
	require.NoError(t, err)
	return []*Tokenizer{small, gpt2}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		return string(data)
	}
	vocab, merges, one := read("small/vocab.json"), read("small/merges.txt"), read("one/tokenizer.json")
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"cut off":          {map[string]string{vocabFile: vocab[:500], mergesFile: merges}, "vocab.json: want an object"},
		"not numbers":      {map[string]string{vocabFile: `{"a": "b"}`, mergesFile: merges}, "vocab.json: want an object"},
		"no merges":        {map[string]string{vocabFile: vocab}, "beside vocab.json: open merges.txt"},
		"missing byte":     {map[string]string{vocabFile: strings.Replace(vocab, `"q":`, `"qqq":`, 1), mergesFile: merges}, `pair 121 is "q u": want two tokens of the vocabulary`},
		"strange pair":     {map[string]string{vocabFile: vocab, mergesFile: "#version: 0.2\nt h e\n"}, `pair 1 is "t h e": want two texts`},
		"unknown pair":     {map[string]string{vocabFile: vocab, mergesFile: "q q\n"}, `pair 1, "q q": the vocabulary has no "qq"`},
		"same number":      {map[string]string{vocabFile: strings.Replace(vocab, `"b":66`, `"b":65`, 1), mergesFile: merges}, "token 65 is both"},
		"huge number":      {map[string]string{vocabFile: strings.Replace(vocab, `"b":66`, `"b":2000000000`, 1), mergesFile: merges}, "want 0 to"},
		"strange text":     {map[string]string{vocabFile: strings.Replace(vocab, `{`, `{"→":700,`, 1), mergesFile: merges}, `'→' stands for no byte`},
		"another kind":     {map[string]string{tokenizerFile: strings.Replace(one, `"BPE"`, `"Unigram"`, 1)}, `"Unigram"`},
		"not a tokenizer":  {map[string]string{tokenizerFile: `[1, 2]`}, "tokenizer.json: "},
		"prefix space":     {map[string]string{tokenizerFile: strings.Replace(one, `"add_prefix_space":false`, `"add_prefix_space":true`, 1)}, "add_prefix_space = true"},
		"merge of a third": {map[string]string{tokenizerFile: strings.Replace(one, `["Ġbe","ing"]`, `["Ġbe","ing","s"]`, 1)}, "tokenizer.json: "},
	} {
		files := fstest.MapFS{}
		for file, text := range c.files {
			files[file] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := Load(files)
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := Load(fstest.MapFS{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestStreamsHoldBackPartsOfCharacters(t *testing.T) {
	k := both(t)[0]
	text := "naïve 日本 👍🏽!"
	tokens := k.Encode(text)
	var shown bytes.Buffer
	s := k.Stream(&shown)
	for _, token := range tokens {
		require.NoError(t, s.Token(token))
		assert.True(t, strings.HasPrefix(text, shown.String()), "%q", shown.String())
	}
	assert.Equal(t, text, shown.String())

	require.NoError(t, s.Token(k.Encode("é")[0])) // half of it
	assert.Equal(t, text, shown.String())
	require.NoError(t, s.Close())
	assert.Equal(t, text+"\ufffd", shown.String())
}

func FuzzRoundTrip(f *testing.F) {
	all := both(f)
	for _, s := range []string{"", "Hello, world!", "<|endoftext|>", "<|endof", "\xff\xfe", " \n\t ", "日本語👍🏽", "'s's"} {
		f.Add(s)
	}
	mutate.Corpus(f)
	f.Fuzz(func(t *testing.T, text string) {
		valid := string([]rune(text))
		for _, k := range all {
			assert.Equal(t, valid, decoded(k, k.Encode(text)))
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"small/vocab.json", "one/tokenizer.json"} {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(data, []byte("#version: 0.2\nt h\n"))
	}
	mutate.Corpus(f)
	f.Fuzz(func(_ *testing.T, vocab, merges []byte) {
		// An error, never a panic.
		_, _ = Load(fstest.MapFS{vocabFile: {Data: vocab}, mergesFile: {Data: merges}})
		_, _ = Load(fstest.MapFS{tokenizerFile: {Data: vocab}})
	})
}
