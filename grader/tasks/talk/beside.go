package talk

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
	yours := Writer{Name: "your kernels"}
	switch {
	case c.kernels == "given":
		yours.Name = "the course's kernels"
	case c.kernels == "go":
		yours.Name = "plain Go, " + cmp.Or(c.weights, "float32") + ", cache " + cmp.Or(c.kept, "float32")
	}
	show := &bar{to: c.Out, on: c.Watched}
	s, closed, err := c.session(show)
	if err == nil {
		yours = c.written(yours, s, show)
		closed()
	} else {
		yours.Not = Advice(err).Error()
	}
	if c.tokens == 0 {
		c.tokens = 100 // no device has said
	}
	plain, err := llama3.NewReference(c.model)
	if err != nil {
		return err
	}
	ref := c.written(Writer{Name: "the reference"}, c.over(plain), show)
	if ref.Not != "" {
		return errors.New(ref.Not)
	}
	fmt.Fprintf(c.Out, "\nyou: %s\n\n", strings.ToValidUTF8(c.prompt, "\ufffd"))
	if yours.Not != "" {
		fmt.Fprintf(c.Out, "%s say nothing: %s\n\nthe reference:\n  %s\n", yours.Name, yours.Not, ref.Text)
		return nil
	}
	fmt.Fprintf(c.Out, "%s\n\n%s\n", strings.Join(Columns(yours, ref), "\n"), Compared(yours, ref, c.model.Tokenizer))
	return nil
}

// written is an answer as a whole.
func (c *talk) written(is Writer, s *chat.Session, show *bar) Writer {
	a, err := s.Say(c.prompt, func(int32) error { show.clear(); return nil })
	show.clear()
	is.Tokens = a.Tokens
	if err != nil {
		is.Not = err.Error()
	}
	is.Text = Spell(c.model.Tokenizer, a.Tokens)
	return is
}
