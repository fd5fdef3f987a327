package bpe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlclark/regexp2"

	"flashlab/nn/gguf"
)

// digits has each digit be a word, before GPT-2's way of cutting.
const digits = `\p{N}`

// llama3 is how Llama 3 cuts a text.
const llama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// ways to cut a text, by llama.cpp's names.
var ways = map[string][]string{
	"gpt-2": {words}, "gpt2": {words},
	"smollm": {digits, words}, "starcoder": {digits, words}, "refact": {digits, words},
	"llama-bpe": {llama3}, "llama3": {llama3}, "llama-v3": {llama3},
}

// What a GGUF file's list of kinds says of a token.
const (
	ordinary = 1
	control  = 3
	added    = 4 // by a user: it stands for itself, too
	unused   = 5
)

// FromGGUF makes the tokenizer that a GGUF file's metadata describes: byte-level BPE, as LoadJSON reads it.
func FromGGUF(m gguf.Metadata) (*Tokenizer, error) {
	t, err := fromGGUF(m)
	if err != nil {
		return nil, fmt.Errorf("its tokenizer: %w", err)
	}
	return t, nil
}

func fromGGUF(m gguf.Metadata) (*Tokenizer, error) {
	model, err := m.Text("tokenizer.ggml.model")
	if err != nil {
		return nil, err
	}
	if model != "gpt2" {
		return nil, fmt.Errorf("tokenizer.ggml.model = %q: want \"gpt2\", byte-level BPE (\"llama\" is SentencePiece's, as Llama 2 has)", model)
	}
	pre, err := m.Text("tokenizer.ggml.pre")
	if err != nil {
		return nil, err
	}
	cuts, ok := ways[pre]
	if !ok {
		return nil, fmt.Errorf("tokenizer.ggml.pre = %q: want one of %s", pre, strings.Join(slices.Sorted(maps.Keys(ways)), ", "))
	}
	t, w := &Tokenizer{end: -1}, &byPairs{join: cuts[0] == llama3}
	for _, cut := range cuts {
		w.cuts = append(w.cuts, regexp2.MustCompile(cut, regexp2.None))
	}
	vocab, special, err := listed(m, t)
	if err != nil {
		return nil, err
	}
	if err := w.add(t, special); err != nil {
		return nil, err
	}
	texts, err := m.Texts("tokenizer.ggml.merges")
	if err != nil {
		return nil, err
	}
	merges := make([]pair, len(texts))
	for i, text := range texts {
		merges[i] = pair(text)
	}
	t.file = w
	if err := w.learn(t, vocab, merges); err != nil {
		return nil, err
	}
	return t, w.begin(m, t, pre)
}

// listed sorts a file's tokens: those of the vocabulary, and those that stand for themselves.
func listed(m gguf.Metadata, t *Tokenizer) (vocab, special map[string]int32, err error) {
	tokens, err := m.Texts("tokenizer.ggml.tokens")
	if err != nil {
		return nil, nil, err
	}
	kinds, err := m.Ints("tokenizer.ggml.token_type")
	if err != nil {
		return nil, nil, err
	}
	if len(tokens) == 0 || len(kinds) != len(tokens) {
		return nil, nil, fmt.Errorf("there are %d tokens and %d token types: want some, and as many", len(tokens), len(kinds))
	}
	vocab, special = map[string]int32{}, map[string]int32{}
	for i, text := range tokens {
		token, to := int32(i), vocab
		switch kinds[i] {
		case ordinary:
		case control, added:
			to = special
		case unused:
			if err := t.name(token, text); err != nil {
				return nil, nil, err
			}
			continue
		default:
			return nil, nil, fmt.Errorf("token %d, %q, is of type %d: want an ordinary one, one of control, an added or an unused one (1, 3, 4, 5)", i, text, kinds[i])
		}
		if have, twice := to[text]; twice || text == "" {
			return nil, nil, fmt.Errorf("token %d is %q, as token %d is, or it has no text", i, text, have)
		}
		to[text] = token
	}
	return vocab, special, nil
}

// begin reads what is put before a text.
func (w *byPairs) begin(m gguf.Metadata, t *Tokenizer, pre string) error {
	begins, err := m.Bool("tokenizer.ggml.add_bos_token", pre == "llama-bpe") // as llama.cpp takes it where the file says nothing
	if err != nil || !begins {
		return err
	}
	token, err := m.Int("tokenizer.ggml.bos_token_id", -1)
	if err != nil {
		return err
	}
	if t.Bytes(int32(token)) == nil {
		return fmt.Errorf("tokenizer.ggml.bos_token_id = %d, which the vocabulary does not have", token)
	}
	w.before = []int32{int32(token)}
	return nil
}
