package talk

import (
	"cmp"
	"fmt"

	"flashlab/nn/chat"
	"flashlab/nn/llama3"
)

// rounded are the model's weights, in the format that was asked for.
func (c *talk) rounded() (llama3.Weights, error) {
	if c.weights == "" {
		return c.model, nil
	}
	return llama3.Kept(c.model, c.weights)
}

// inGo is the model in plain Go: nobody's kernels have a part in it, and its cache may be in any of the course's formats.
func (c *talk) inGo() (*chat.Session, error) {
	w, err := c.rounded()
	if err != nil {
		return nil, err
	}
	m, err := llama3.NewReference(w)
	if err != nil {
		return nil, err
	}
	if m, err = m.Fork(c.kept); err != nil {
		return nil, err
	}
	c.tokens = cmp.Or(c.tokens, 100)
	fmt.Fprintf(c.Out, "in plain Go, weights in %s, keys and values in %s\n", cmp.Or(c.weights, "float32"), cmp.Or(c.kept, "float32"))
	return c.over(m), nil
}
