package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"flashlab/nn/chat"
	"flashlab/nn/llama3"
)

// besideReference sets the answer beside that of the same model in plain Go, which nobody's kernels have a part in.
func (c *talk) besideReference() error {
	yours := writer{name: "your kernels"}
	switch {
	case c.kernels == "given":
		yours.name = "the course's kernels"
	case c.kernels == "go":
		yours.name = "plain Go, " + cmp.Or(c.weights, "float32") + ", cache " + cmp.Or(c.cache, "float32")
	}
	show := &bar{to: c.out, on: c.watched}
	s, closed, err := c.session(show)
	if err == nil {
		yours = c.written(yours, s, show)
		closed()
	} else {
		yours.not = advice(err).Error()
	}
	if c.tokens == 0 {
		c.tokens = 100 // no device has said
	}
	plain, err := llama3.NewReference(c.model)
	if err != nil {
		return err
	}
	ref := c.written(writer{name: "the reference"}, c.over(plain), show)
	if ref.not != "" {
		return errors.New(ref.not)
	}
	fmt.Fprintf(c.out, "\nyou: %s\n\n", strings.ToValidUTF8(c.prompt, "\ufffd"))
	if yours.not != "" {
		fmt.Fprintf(c.out, "%s say nothing: %s\n\nthe reference:\n  %s\n", yours.name, yours.not, ref.text)
		return nil
	}
	fmt.Fprintf(c.out, "%s\n\n%s\n", strings.Join(columns(yours, ref), "\n"), compared(yours, ref, c.model.Tokenizer))
	return nil
}

// written is an answer as a whole.
func (c *talk) written(is writer, s *chat.Session, show *bar) writer {
	a, err := s.Say(c.prompt, func(int32) error { show.clear(); return nil })
	show.clear()
	is.tokens = a.Tokens
	if err != nil {
		is.not = err.Error()
	}
	is.text = spell(c.model.Tokenizer, a.Tokens)
	return is
}
