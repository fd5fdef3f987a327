package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"flashlab/attn"
	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
	reference "flashlab/task1_reference"
	"flashlab/tensor"
)

// writer is one who goes on from a prompt.
type writer struct {
	name   string
	tokens []int32
	text   string // the prompt and what follows
	not    string // why there is none
}

// beside is `make gpt2 REF=1`: what the kernels write, beside the same model in plain Go with the
// course's own attention, which nobody's kernels have a part in; and what task 1's attention and
// Hugging Face's model make of it.
func (c choices) beside(w gpt2.Weights, t *bpe.Tokenizer) error {
	prompt, err := c.encode(t, w.Config())
	if err != nil {
		return err
	}
	yours := c.writes("your kernels", w, t, prompt, c.runner)
	if c.kernels == "given" {
		yours.name = "the course's kernels"
	}
	ref := c.writes("the reference", w, t, prompt, func(w gpt2.Weights) (*runner, error) { return inGo(w, nil) })
	if ref.not != "" {
		return errors.New(ref.not)
	}
	lines := []string{}
	switch {
	case yours.not != "":
		lines = append(lines, yours.name+" write nothing: "+yours.not, "", ref.name+":", "  "+ref.text)
	default:
		lines = append(lines, columns(yours, ref)...)
		lines = append(lines, "", compared(yours, ref, t))
	}
	attend := gpt2.Attend(reference.Attention)
	one := tensor.New(1, 1, 1)
	if _, err := attend(one, one, one, 1, true); errors.Is(err, attn.ErrNotImplemented) {
		lines = append(lines, "task 1's attention in plain Go: still the stub")
	} else {
		lines = append(lines, compared(c.writes("task 1's attention in plain Go", w, t, prompt, func(w gpt2.Weights) (*runner, error) { return inGo(w, attend) }), ref, t))
	}
	lines = append(lines, compared(c.huggingFace(prompt, t), ref, t))
	text := strings.Join(lines, "\n")
	fmt.Println(text)
	if c.json {
		line, err := json.Marshal(struct {
			Beside string
			Same   bool
		}{text, yours.not == "" && differ(yours.tokens, ref.tokens) < 0})
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s\n", line)
	}
	return nil
}

// writes lets a model write. What goes wrong is in the writer: the others are shown all the same.
func (c choices) writes(name string, w gpt2.Weights, t *bpe.Tokenizer, prompt []int32, open func(gpt2.Weights) (*runner, error)) writer {
	is := writer{name: name}
	r, err := open(w)
	if err != nil {
		is.not = err.Error()
		return is
	}
	defer r.close()
	g := lm.Generation{Prompt: prompt, Tokens: c.tokens, Sampler: c.sampler, Stop: c.stop(t), Emit: func(token int32) error {
		is.tokens = append(is.tokens, token)
		return nil
	}}
	if _, err := lm.Generate(r, g); err != nil {
		is.not = err.Error()
	}
	is.text = spell(t, append(prompt[:len(prompt):len(prompt)], is.tokens...))
	return is
}

// stop is the token that ends a text.
func (choices) stop(t *bpe.Tokenizer) int32 {
	if t != nil {
		if end, ok := t.End(); ok {
			return end
		}
	}
	return -1
}

// spell makes text of tokens; without a vocabulary they stay numbers.
func spell(t *bpe.Tokenizer, tokens []int32) string {
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

// differ is the first place where two lists do; -1 where they are the same.
func differ(a, b []int32) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// compared says in a sentence how a writer's tokens are to the reference's.
func compared(a, ref writer, t *bpe.Tokenizer) string {
	if a.not != "" {
		return a.name + ": " + a.not
	}
	i := differ(a.tokens, ref.tokens)
	if i < 0 {
		return fmt.Sprintf("%s: the same %d tokens as the reference", a.name, len(ref.tokens))
	}
	word := func(tokens []int32) string {
		if i >= len(tokens) {
			return "nothing"
		}
		return fmt.Sprintf("%q", spell(t, tokens[i:i+1]))
	}
	return fmt.Sprintf("%s: the first difference is token %d, %s where the reference has %s", a.name, i+1, word(a.tokens), word(ref.tokens))
}

// columnWidth is that of a text beside another, in characters.
const columnWidth = 44

// columns sets two texts side by side, and marks the line of the first difference.
func columns(a, b writer) []string {
	left, right := wrap(a.text), wrap(b.text)
	lines := []string{pad(a.name) + "   " + b.name, pad(strings.Repeat("─", columnWidth)) + "   " + strings.Repeat("─", columnWidth)}
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
