// Package bpe turns text into a model's tokens and back: byte-level byte pair
// encoding, in GPT-2's format and with GPT-2's way of cutting text into words.
//
// The encoding itself is that of github.com/pkoukk/tiktoken-go, which takes
// ranks of any origin. This package reads them from the files that models come
// with.
package bpe

import (
	"fmt"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// EndOfText stands between the documents that a model was trained on.
const EndOfText = "<|endoftext|>"

// words is how GPT-2 cuts a text before it looks for pairs: contractions, then
// letters, digits and other signs with the space before them, then spaces. Of
// several spaces the last belongs to the word behind it.
const words = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// Tokenizer knows one vocabulary.
type Tokenizer struct {
	core   *tiktoken.Tiktoken
	file   *byPairs // in its place, of LoadJSON
	tokens []int32  // by rank: what a model calls it
	text   [][]byte // by token; nil where there is none
	end    int32    // EndOfText; -1 without one

	special bool // there are special tokens
}

// GPT2 is the vocabulary of GPT-2 itself, in all its sizes: 50257 tokens.
func GPT2() (*Tokenizer, error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe("r50k_base.tiktoken")
	if err != nil {
		return nil, fmt.Errorf("GPT-2's vocabulary: %w", err)
	}
	v := vocabulary{ranked: make([]string, len(ranks)), tokens: make([]int32, len(ranks)), special: map[string]int32{EndOfText: int32(len(ranks))}}
	for text, rank := range ranks {
		v.ranked[rank], v.tokens[rank] = text, int32(rank)
	}
	return v.tokenizer()
}

// vocabulary is what a tokenizer is made of.
type vocabulary struct {
	ranked  []string // single bytes, then pairs in the order in which they are joined
	tokens  []int32  // what the model calls these
	special map[string]int32
	others  map[string]int32 // tokens that no text leads to, as bytes
}

func (v vocabulary) tokenizer() (*Tokenizer, error) {
	t := &Tokenizer{tokens: v.tokens, end: -1, special: len(v.special) > 0}
	ranks := make(map[string]int, len(v.ranked))
	for rank, text := range v.ranked {
		ranks[text] = rank
		if err := t.name(v.tokens[rank], text); err != nil {
			return nil, err
		}
	}
	for text, token := range v.others {
		if err := t.name(token, text); err != nil {
			return nil, err
		}
	}
	special, all := map[string]int{}, map[string]any{}
	for text, token := range v.special {
		if err := t.name(token, text); err != nil {
			return nil, err
		}
		// Their ranks follow the others', so that one table serves both.
		special[text], all[text] = len(t.tokens), true
		t.tokens = append(t.tokens, token)
		if text == EndOfText {
			t.end = token
		}
	}
	core, err := tiktoken.NewCoreBPE(ranks, special, words)
	if err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	t.core = tiktoken.NewTiktoken(core, nil, all)
	return t, nil
}

// maxToken bounds the numbers of tokens, so that a broken file cannot ask for
// a table of all int32.
const maxToken = 1 << 22

// name notes what a token stands for.
func (t *Tokenizer) name(token int32, text string) error {
	if token < 0 || token > maxToken {
		return fmt.Errorf("vocabulary: %q is token %d: want 0 to %d", text, token, maxToken)
	}
	for len(t.text) <= int(token) {
		t.text = append(t.text, nil)
	}
	if have := t.text[token]; have != nil {
		return fmt.Errorf("vocabulary: token %d is both %q and %q", token, have, text)
	}
	t.text[token] = []byte(text)
	return nil
}

// Size is one more than the largest token.
func (t *Tokenizer) Size() int { return len(t.text) }

// End is the token of EndOfText; ok is false where the vocabulary has none.
func (t *Tokenizer) End() (token int32, ok bool) { return t.end, t.end >= 0 }

// Encode turns text into tokens. EndOfText and other special tokens are
// recognised in it. A byte that is no UTF-8 becomes U+FFFD. A vocabulary of LoadJSON
// puts before and behind the text what its file asks for, such as Llama's token to begin with.
func (t *Tokenizer) Encode(text string) []int32 {
	if t.file != nil {
		return t.file.encode(text)
	}
	var ranks []int
	if t.special { // without any, tiktoken would find the empty one everywhere
		ranks = t.core.Encode(text, []string{"all"}, nil)
	} else {
		ranks = t.core.EncodeOrdinary(text)
	}
	return t.named(ranks)
}

// Plain turns text into tokens as Encode does, but no special token is recognised in it, and nothing is put around it: what
// somebody types stays words.
func (t *Tokenizer) Plain(text string) []int32 {
	if t.file != nil {
		return t.file.ordinary(string([]rune(text)))
	}
	return t.named(t.core.EncodeOrdinary(text))
}

// Special is the token that stands for itself in a text; ok is false where there is none of that name.
func (t *Tokenizer) Special(text string) (token int32, ok bool) {
	if t.file != nil {
		token, ok = t.file.added[text]
		return token, ok
	}
	return t.end, text == EndOfText && t.end >= 0
}

// named are tokens as the model calls them.
func (t *Tokenizer) named(ranks []int) []int32 {
	tokens := make([]int32, len(ranks))
	for i, rank := range ranks {
		tokens[i] = t.tokens[rank]
	}
	return tokens
}

// Bytes is what a token stands for: not always whole characters. It is nil for
// a token that the vocabulary does not have.
func (t *Tokenizer) Bytes(token int32) []byte {
	if token < 0 || int(token) >= len(t.text) {
		return nil
	}
	return t.text[token]
}
