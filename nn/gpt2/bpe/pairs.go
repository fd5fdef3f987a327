package bpe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlclark/regexp2"
)

// byPairs encodes by a list of pairs. tiktoken joins whatever two tokens make a third, the lowest first;
// that is the same only where the list has all such pairs, as published Llamas' have.
type byPairs struct {
	added         map[string]int32
	find          *regexp.Regexp // one of added; nil without any
	cuts          []*regexp2.Regexp
	whole         map[string]int32 // the vocabulary, as files write it
	join          bool             // a word that is in it is not looked at further: ignore_merges
	bytes         [256]int32       // -1 for one that the vocabulary lacks
	pairs         map[[2]int32]joined
	before, after []int32 // around each text
}

type joined struct {
	rank  int
	token int32
}

// learn reads a vocabulary, as files write it, and what is joined to what. A byte that the vocabulary lacks leaves no
// token in a text, as in Hugging Face's tokenizers where no token stands for the unknown.
func (w *byPairs) learn(t *Tokenizer, vocab map[string]int32, merges []pair) error {
	w.whole = vocab
	for written, token := range vocab {
		raw, err := unwrite(written)
		if err != nil {
			return err
		}
		if err := t.name(token, raw); err != nil {
			return err
		}
	}
	for b := range w.bytes {
		token, ok := vocab[string(writtenAs[b])]
		if !ok {
			token = -1
		}
		w.bytes[b] = token
	}
	w.pairs = make(map[[2]int32]joined, len(merges))
	for i, p := range merges {
		left, right, ok := strings.Cut(string(p), " ")
		a, okA := vocab[left]
		b, okB := vocab[right]
		both, okBoth := vocab[left+right]
		if !ok || !okA || !okB || !okBoth {
			return fmt.Errorf("pair %d is %q: want two tokens of the vocabulary with a space between, which together are one, too", i+1, string(p))
		}
		w.pairs[[2]int32{a, b}] = joined{rank: i, token: both}
	}
	return nil
}

// add takes the tokens that stand for themselves, wherever they are in a text: of several that begin at one place, the
// longest.
func (w *byPairs) add(t *Tokenizer, added map[string]int32) error {
	w.added = added
	var all []string
	for text, token := range added {
		if err := t.name(token, text); err != nil {
			return err
		}
		all = append(all, regexp.QuoteMeta(text))
		if text == EndOfText {
			t.end = token
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	if len(all) > 0 {
		w.find = regexp.MustCompile(strings.Join(all, "|"))
	}
	return nil
}

func (w *byPairs) encode(text string) []int32 {
	text = string([]rune(text)) // U+FFFD for what is no UTF-8
	tokens := append([]int32{}, w.before...)
	for len(text) > 0 {
		at := []int{len(text), len(text)}
		if w.find != nil {
			if found := w.find.FindStringIndex(text); found != nil {
				at = found
			}
		}
		tokens = append(tokens, w.ordinary(text[:at[0]])...)
		if at[1] > at[0] {
			tokens = append(tokens, w.added[text[at[0]:at[1]]])
		}
		text = text[at[1]:]
	}
	return append(tokens, w.after...)
}

// ordinary encodes a text in which no token stands for itself.
func (w *byPairs) ordinary(text string) (tokens []int32) {
	for _, word := range w.words(text) {
		tokens = append(tokens, w.word(word)...)
	}
	return tokens
}

// words cuts by each pattern what those before it left: matches, and what is between them.
func (w *byPairs) words(text string) []string {
	all := []string{text}
	for _, cut := range w.cuts {
		var finer []string
		for _, one := range all {
			finer = append(finer, isolated(cut, []rune(one))...)
		}
		all = finer
	}
	return all
}

func isolated(cut *regexp2.Regexp, text []rune) (all []string) {
	done := 0
	m, _ := cut.FindRunesMatch(text) // an error is a time-out, and there is none
	for m != nil {
		if m.Length > 0 {
			if m.Index > done {
				all = append(all, string(text[done:m.Index]))
			}
			done = m.Index + m.Length
			all = append(all, string(text[m.Index:done]))
		}
		m, _ = cut.FindNextMatch(m)
	}
	if done < len(text) {
		all = append(all, string(text[done:]))
	}
	return all
}

// word joins pairs, the first of the list first, until no pair is in it.
func (w *byPairs) word(word string) []int32 {
	if w.join {
		if token, ok := w.whole[write(word)]; ok {
			return []int32{token}
		}
	}
	tokens := make([]int32, 0, len(word))
	for i := range len(word) {
		if token := w.bytes[word[i]]; token >= 0 {
			tokens = append(tokens, token)
		}
	}
	for {
		best, at := joined{}, -1
		for i := range len(tokens) - 1 {
			if j, ok := w.pairs[[2]int32{tokens[i], tokens[i+1]}]; ok && (at < 0 || j.rank < best.rank) {
				best, at = j, i
			}
		}
		if at < 0 {
			return tokens
		}
		tokens[at] = best.token
		tokens = append(tokens[:at+1], tokens[at+2:]...)
	}
}

// write is how files write bytes.
func write(raw string) string {
	written := make([]rune, len(raw))
	for i := range len(raw) {
		written[i] = writtenAs[raw[i]]
	}
	return string(written)
}
