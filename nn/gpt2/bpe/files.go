package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	"github.com/dlclark/regexp2"
)

// The files of a Hugging Face model that describe its vocabulary: either the
// first two, or the third.
const (
	vocabFile     = "vocab.json"
	mergesFile    = "merges.txt"
	tokenizerFile = "tokenizer.json"
)

// Load reads a model's vocabulary from its folder. Where the folder has none,
// the error is fs.ErrNotExist.
func Load(dir fs.FS) (*Tokenizer, error) {
	data, err := fs.ReadFile(dir, vocabFile)
	if errors.Is(err, fs.ErrNotExist) {
		return loadTokenizer(dir)
	}
	if err != nil {
		return nil, err
	}
	vocab := map[string]int32{}
	if err := json.Unmarshal(data, &vocab); err != nil {
		return nil, fmt.Errorf("%s: want an object from texts to numbers: %w", vocabFile, err)
	}
	text, err := fs.ReadFile(dir, mergesFile)
	if err != nil {
		return nil, fmt.Errorf("beside %s: %w", vocabFile, err)
	}
	t, err := fromPairs(vocab, nil, lines(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", vocabFile, mergesFile, err)
	}
	return t, nil
}

// lines of merges.txt that hold a pair.
func lines(text string) (pairs []string) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line != "" && (i > 0 || !strings.HasPrefix(line, "#version")) {
			pairs = append(pairs, line)
		}
	}
	return pairs
}

// tokenizerJSON is the part of tokenizer.json that matters here.
type tokenizerJSON struct {
	Model struct {
		Type   string
		Vocab  map[string]int32
		Merges []pair
		// Unknown stands for bytes that the vocabulary lacks.
		Unknown *string `json:"unk_token"`
	}
	PreTokenizer struct {
		Type   string
		Prefix bool `json:"add_prefix_space"`
	} `json:"pre_tokenizer"`
	Added []struct {
		ID      int32
		Content string
	} `json:"added_tokens"`
}

// pair is written "a b", or ["a", "b"] by newer versions.
type pair string

func (p *pair) UnmarshalJSON(data []byte) error {
	var two []string
	if json.Unmarshal(data, &two) == nil && len(two) == 2 {
		*p = pair(two[0] + " " + two[1])
		return nil
	}
	return json.Unmarshal(data, (*string)(p))
}

func loadTokenizer(dir fs.FS) (*Tokenizer, error) {
	data, err := fs.ReadFile(dir, tokenizerFile)
	if err != nil {
		return nil, fmt.Errorf("neither %s with %s nor %s: %w", vocabFile, mergesFile, tokenizerFile, err)
	}
	var file tokenizerJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	if m, p := file.Model, file.PreTokenizer; m.Type != "BPE" || p.Type != "ByteLevel" || p.Prefix {
		return nil, fmt.Errorf("%s: a model of type %q behind a pre-tokenizer %q (add_prefix_space = %v): want BPE behind ByteLevel, false, as GPT-2 has", tokenizerFile, m.Type, p.Type, p.Prefix)
	}
	special := map[string]int32{}
	for _, a := range file.Added {
		special[a.Content] = a.ID
		delete(file.Model.Vocab, a.Content)
	}
	if b := lacking(file.Model.Vocab); b >= 0 && file.Model.Unknown != nil {
		return nil, fmt.Errorf("%s: byte %#02x: the vocabulary has no %q, and unk_token is %q: want all bytes, or no unk_token", tokenizerFile, b, string(writtenAs[b]), *file.Model.Unknown)
	}
	var pairs []string
	for _, p := range file.Model.Merges {
		pairs = append(pairs, string(p))
	}
	t, err := fromPairs(file.Model.Vocab, special, pairs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	return t, nil
}

// fromPairs ranks the vocabulary: single bytes first, then what the pairs make,
// in their order.
func fromPairs(vocab, special map[string]int32, pairs []string) (*Tokenizer, error) {
	if lacking(vocab) >= 0 {
		return withoutBytes(vocab, special, pairs)
	}
	v := vocabulary{special: map[string]int32{}, others: map[string]int32{}}
	for text, token := range special {
		v.special[text] = token
	}
	if token, ok := vocab[EndOfText]; ok {
		v.special[EndOfText] = token
	}
	seen := map[string]bool{EndOfText: true}
	add := func(written string) error {
		token, ok := vocab[written]
		raw, err := unwrite(written)
		switch {
		case !ok:
			return fmt.Errorf("the vocabulary has no %q", written)
		case err != nil:
			return err
		case seen[written]:
			return nil // of two ways to make a token, the first counts
		}
		seen[written] = true
		v.ranked, v.tokens = append(v.ranked, raw), append(v.tokens, token)
		return nil
	}
	for _, written := range writtenAs {
		if err := add(string(written)); err != nil {
			return nil, err
		}
	}
	for i, p := range pairs {
		a, b, ok := strings.Cut(p, " ")
		if !ok || a == "" || b == "" || strings.Contains(b, " ") {
			return nil, fmt.Errorf("pair %d is %q: want two texts with a space between", i+1, p)
		}
		if err := add(a + b); err != nil {
			return nil, fmt.Errorf("pair %d, %q: %w", i+1, p, err)
		}
	}
	for written, token := range vocab {
		if seen[written] {
			continue
		}
		raw, err := unwrite(written)
		if err != nil {
			return nil, err
		}
		v.others[raw] = token
	}
	return v.tokenizer()
}

// lacking is the first byte that a vocabulary has no token for; -1 if it has one for each.
func lacking(vocab map[string]int32) int {
	for b, written := range writtenAs {
		if _, ok := vocab[string(written)]; !ok {
			return b
		}
	}
	return -1
}

// withoutBytes is the tokenizer of a vocabulary that lacks some: tiktoken would take them for the token of rank 0.
func withoutBytes(vocab, special map[string]int32, pairs []string) (*Tokenizer, error) {
	if len(vocab) == 0 {
		return nil, errors.New("the vocabulary is empty")
	}
	added := maps.Clone(special)
	if token, ok := vocab[EndOfText]; ok {
		if added == nil {
			added = map[string]int32{}
		}
		added[EndOfText] = token
		vocab = maps.Clone(vocab)
		delete(vocab, EndOfText)
	}
	merges := make([]pair, len(pairs))
	for i, p := range pairs {
		merges[i] = pair(p)
	}
	t, w := &Tokenizer{end: -1}, &byPairs{cuts: []*regexp2.Regexp{regexp2.MustCompile(words, regexp2.None)}}
	if err := w.add(t, added); err != nil {
		return nil, err
	}
	t.file = w
	return t, w.learn(t, vocab, merges)
}

// writtenAs is the character that stands for each byte in these files: itself
// where it can be seen, and one from U+0100 on elsewhere.
var writtenAs, byteOf = func() (chars [256]rune, bytes map[rune]byte) {
	bytes = map[rune]byte{}
	next := rune(256)
	for b := range rune(256) {
		chars[b] = b
		if b <= ' ' || b >= 0x7f && b <= 0xa0 || b == 0xad {
			chars[b] = next
			next++
		}
		bytes[chars[b]] = byte(b)
	}
	return chars, bytes
}()

// unwrite turns a text of these files into the bytes that it stands for.
func unwrite(written string) (string, error) {
	var raw []byte
	for _, r := range written {
		b, ok := byteOf[r]
		if !ok {
			return "", fmt.Errorf("%q: the character %q stands for no byte", written, r)
		}
		raw = append(raw, b)
	}
	if len(raw) == 0 {
		return "", fmt.Errorf("the vocabulary has a token without text")
	}
	return string(raw), nil
}
