package llama

// Operations are the additions and multiplications of a whole prompt: two for each weight
// of a layer and token, and the two products of attention, half of which the mask leaves
// out; the head is asked for the last tokens alone.
func (c Config) Operations() float64 {
	rows, hidden := float64(c.Batch*c.Prompt), float64(c.Hidden)
	weights := 4*hidden*hidden + 3*hidden*float64(c.MLP)
	layer := 2*rows*weights + 2*rows*float64(c.Prompt)*hidden
	return float64(c.Layers)*layer + 2*float64(c.Batch)*hidden*float64(c.Vocabulary)
}

// Reads is how many bytes a step reads at least, with so many tokens in the cache: each
// weight once, and their keys and values. Of the embedding it needs a row for each sequence.
func (c Config) Reads(tokens int) int64 {
	weights, _, _ := c.Bytes()
	rows := int64(c.Batch - c.Vocabulary)
	cached := 2 * int64(c.Layers) * int64(c.Batch) * int64(tokens)
	return weights + 4*int64(c.Hidden)*(rows+cached)
}
