package gpt2

// Operations are the additions and multiplications of a prompt of so many tokens: two for
// each weight of a layer's matrices and token, and the two products of attention, half of
// which the mask leaves out; the head is asked for the last token alone.
func (c Config) Operations(prompt int) float64 {
	rows, width := float64(prompt), float64(c.Width)
	weights := 4*width*width + 2*width*float64(c.Inner)
	layer := 2*rows*weights + 2*rows*rows*width
	return float64(c.Layers)*layer + 2*width*float64(c.Vocabulary)
}

// Reads is how many bytes a step reads at least, with so many tokens in the cache: each
// weight once, and their keys and values. Of the positions it needs one row; the table of
// tokens is the head as well.
func (c Config) Reads(tokens int) int64 {
	values := c.Parameters() - (c.Positions-1)*c.Width + 2*c.Layers*tokens*c.Width
	return 4 * int64(values)
}
