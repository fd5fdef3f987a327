package talk

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"flashlab/nn/gpt2/bpe"
)

// Writer is one who goes on from a prompt, or answers it.
type Writer struct {
	Name   string
	Tokens []int32
	Text   string
	Not    string // why there is none
}

// Spell makes text of tokens; without a vocabulary they stay numbers.
func Spell(t *bpe.Tokenizer, tokens []int32) string {
	if t == nil {
		return strings.Trim(fmt.Sprint(tokens), "[]")
	}
	var b strings.Builder
	s := t.Stream(&b)
	for _, one := range tokens {
		if err := s.Token(one); err != nil {
			return strings.Trim(fmt.Sprint(tokens), "[]")
		}
	}
	_ = s.Close()
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

// Differ is the first place where two lists do; -1 where they are the same.
func Differ(a, b []int32) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// Compared says in a sentence how a writer's tokens are to the reference's.
func Compared(a, ref Writer, t *bpe.Tokenizer) string {
	if a.Not != "" {
		return a.Name + ": " + a.Not
	}
	i := Differ(a.Tokens, ref.Tokens)
	if i < 0 {
		return fmt.Sprintf("%s: the same %d tokens as the reference", a.Name, len(ref.Tokens))
	}
	word := func(tokens []int32) string {
		if i >= len(tokens) {
			return "nothing"
		}
		return fmt.Sprintf("%q", Spell(t, tokens[i:i+1]))
	}
	return fmt.Sprintf("%s: the first difference is token %d, %s where the reference has %s", a.Name, i+1, word(a.Tokens), word(ref.Tokens))
}

// columnWidth is that of a text beside another, in characters.
const columnWidth = 44

// Columns sets two texts side by side, and marks the line of the first difference.
func Columns(a, b Writer) []string {
	left, right := wrap(a.Text), wrap(b.Text)
	lines := []string{pad(a.Name) + "   " + b.Name, pad(strings.Repeat("─", columnWidth)) + "   " + strings.Repeat("─", columnWidth)}
	marked := false
	for i := range max(len(left), len(right)) {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		mark := " "
		if l != r && !marked {
			mark, marked = "≠", true
		}
		lines = append(lines, strings.TrimRight(pad(l)+" "+mark+" "+r, " "))
	}
	return lines
}

func pad(s string) string {
	return s + strings.Repeat(" ", max(0, columnWidth-utf8.RuneCountInString(s)))
}

// wrap cuts a text into lines of a column, between words where it can.
func wrap(s string) (lines []string) {
	for _, paragraph := range strings.Split(s, "\n") {
		r := []rune(paragraph)
		for len(r) > columnWidth {
			cut := columnWidth
			for i := columnWidth; i > columnWidth/2; i-- {
				if r[i] == ' ' {
					cut = i
					break
				}
			}
			lines, r = append(lines, string(r[:cut])), r[cut:]
			if r[0] == ' ' {
				r = r[1:]
			}
		}
		lines = append(lines, string(r))
	}
	return lines
}
