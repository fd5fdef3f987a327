package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"flashlab/attn"
	"flashlab/grader/tasks/talk"
	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
	reference "flashlab/task1_reference"
	"flashlab/tensor"
)

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
		yours.Name = "the course's kernels"
	}
	ref := c.writes("the reference", w, t, prompt, func(w gpt2.Weights) (*runner, error) { return inGo(w, nil) })
	if ref.Not != "" {
		return errors.New(ref.Not)
	}
	lines := []string{}
	switch {
	case yours.Not != "":
		lines = append(lines, yours.Name+" write nothing: "+yours.Not, "", ref.Name+":", "  "+ref.Text)
	default:
		lines = append(lines, talk.Columns(yours, ref)...)
		lines = append(lines, "", talk.Compared(yours, ref, t))
	}
	attend := gpt2.Attend(reference.Attention)
	one := tensor.New(1, 1, 1)
	if _, err := attend(one, one, one, 1, true); errors.Is(err, attn.ErrNotImplemented) {
		lines = append(lines, "task 1's attention in plain Go: still the stub")
	} else {
		lines = append(lines, talk.Compared(c.writes("task 1's attention in plain Go", w, t, prompt, func(w gpt2.Weights) (*runner, error) { return inGo(w, attend) }), ref, t))
	}
	lines = append(lines, talk.Compared(c.huggingFace(prompt, t), ref, t))
	text := strings.Join(lines, "\n")
	fmt.Println(text)
	if c.json {
		line, err := json.Marshal(struct {
			Beside string
			Same   bool
		}{text, yours.Not == "" && talk.Differ(yours.Tokens, ref.Tokens) < 0})
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s\n", line)
	}
	return nil
}

// writes lets a model write. What goes wrong is in the writer: the others are shown all the same.
func (c choices) writes(name string, w gpt2.Weights, t *bpe.Tokenizer, prompt []int32, open func(gpt2.Weights) (*runner, error)) talk.Writer {
	is := talk.Writer{Name: name}
	r, err := open(w)
	if err != nil {
		is.Not = err.Error()
		return is
	}
	defer r.close()
	g := lm.Generation{Prompt: prompt, Tokens: c.tokens, Sampler: c.sampler, Stop: c.stop(t), Emit: func(token int32) error {
		is.Tokens = append(is.Tokens, token)
		return nil
	}}
	if _, err := lm.Generate(r, g); err != nil {
		is.Not = err.Error()
	}
	is.Text = talk.Spell(t, append(prompt[:len(prompt):len(prompt)], is.Tokens...))
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
