package wire

import "flashlab/nn/gpt2"

// GPT2 is the size of a case's random model: the last step takes its last
// position.
func (c Case) GPT2() gpt2.Config {
	s := c.Sizes
	width := s["heads"] * s["dim"]
	return gpt2.Config{Width: width, Heads: s["heads"], Layers: s["layers"], Positions: s["prompt"] + s["steps"],
		Vocabulary: s["vocabulary"], Inner: 4 * width, Epsilon: 1e-5}
}

// Tokens are a case's first input, as tokens.
func Tokens(x []float32, vocabulary int) []int {
	tokens := make([]int, len(x))
	for i, v := range x {
		tokens[i] = Token(v, vocabulary)
	}
	return tokens
}
