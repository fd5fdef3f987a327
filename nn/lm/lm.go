// Package lm lets a language model write, and measures how well it foretells a
// text.
package lm

import (
	"errors"
	"fmt"
	"math"
	"time"

	"flashlab/nn"
)

// ErrFull says that the text is as long as the model has positions.
var ErrFull = errors.New("the model's positions are used up")

// LM can generate text.
type LM interface {
	// Positions is the longest text, Room how many more tokens this one may have.
	Positions() int
	Room() int
	// Prefill starts a text with a prompt.
	Prefill(prompt []int32) error
	// Step advances by one token.
	Step(token int32) error
	// Logits are those of the token that comes next, Greedy the best of them.
	Logits() ([]float32, error)
	Greedy() (int32, error)
	// Each does what Prefill does, and calls f for each position with its
	// logits, which are f's only until it returns.
	Each(text []int32, f func(position int, logits []float32) error) error
}

// Onward is an LM that may step before it is known here which token it steps with: the device has picked it.
type Onward interface {
	// GreedyOn is Greedy. If stepped is true, the step with this token is queued as well.
	GreedyOn() (token int32, stepped bool, err error)
}

// Generation says what to generate.
type Generation struct {
	Prompt  []int32
	Tokens  int // how many at most
	Sampler nn.Sampler
	Stop    int32                   // a token that ends the text; -1 for none
	Emit    func(token int32) error // is called with each as it comes
}

// Timing is how long the tokens of a generation took.
type Timing struct {
	First time.Duration   // from the prompt to the first token
	Each  []time.Duration // from one token to the next
	Why   string          // it ended: "" if all tokens were generated
}

// Generate continues a text from a prompt.
func Generate(m LM, g Generation) (Timing, error) {
	var t Timing
	if g.Tokens < 1 {
		return t, fmt.Errorf("%d tokens to generate: want 1 at least", g.Tokens)
	}
	if err := g.Sampler.Check(); err != nil {
		return t, err
	}
	last := time.Now()
	if err := m.Prefill(g.Prompt); err != nil {
		return t, fmt.Errorf("the prompt: %w", err)
	}
	for n := 0; ; n++ {
		token, stepped, err := next(m, &g.Sampler, n+1 < g.Tokens)
		if err != nil {
			return t, fmt.Errorf("token %d: %w", n+1, err)
		}
		now := time.Now()
		if n == 0 {
			t.First = now.Sub(last)
		} else {
			t.Each = append(t.Each, now.Sub(last))
		}
		last = now
		if token == g.Stop && g.Stop >= 0 {
			t.Why = "the model ended the text"
			return t, nil
		}
		if err := g.Emit(token); err != nil || n+1 == g.Tokens {
			return t, err
		}
		if stepped {
			continue // showing a token takes none of the model's time
		}
		last = time.Now() // showing a token is not the model's time
		err = m.Step(token)
		if errors.Is(err, ErrFull) {
			t.Why = fmt.Sprintf("the model has %d positions", m.Positions())
			return t, nil
		}
		if err != nil {
			return t, fmt.Errorf("token %d: %w", n+2, err)
		}
	}
}

// next is the next token, and whether the model has stepped with it, which it may if more are wanted.
func next(m LM, s *nn.Sampler, more bool) (token int32, stepped bool, err error) {
	if s.Temperature == 0 { // the logits may stay where they are
		if m, ok := m.(Onward); ok && more {
			return m.GreedyOn()
		}
		token, err = m.Greedy()
		return token, false, err
	}
	logits, err := m.Logits()
	if err != nil {
		return 0, false, err
	}
	one, err := s.Next(logits)
	return int32(one), false, err
}

// Perplexity is how many tokens the model wavers between, on average, at each
// token of a text: e to the mean of −log p. The text is cut into pieces as long
// as the model has positions. Each piece starts afresh, and its first token is not
// counted.
func Perplexity(m LM, text []int32) (float64, error) {
	var sum float64
	counted := 0
	size := m.Positions()
	for from := 0; from < len(text)-1; from += size {
		piece := text[from:min(from+size, len(text))]
		err := m.Each(piece, func(i int, logits []float32) error {
			if i+1 < len(piece) {
				sum += Surprise(logits, piece[i+1])
				counted++
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if counted == 0 {
		return 0, errors.New("a perplexity needs a text of two tokens at least")
	}
	return math.Exp(sum / float64(counted)), nil
}

// Surprise is −log of the probability of a token.
func Surprise(logits []float32, token int32) float64 {
	largest := math.Inf(-1)
	for _, v := range logits {
		largest = max(largest, float64(v))
	}
	var sum float64
	for _, v := range logits {
		sum += math.Exp(float64(v) - largest)
	}
	return math.Log(sum) + largest - float64(logits[token])
}

// CheckText tells what is wrong with a prompt.
func CheckText(text []int32, positions, vocabulary int) error {
	switch n := len(text); {
	case n == 0:
		return errors.New("the prompt is empty: a model needs one token at least")
	case n > positions:
		return fmt.Errorf("the prompt has %d tokens, and the model %d positions: %w", n, positions, ErrFull)
	}
	for i, token := range text {
		if token < 0 || int(token) >= vocabulary {
			return fmt.Errorf("token %d of the prompt is %d: the model knows 0 to %d; does the vocabulary belong to it?", i, token, vocabulary-1)
		}
	}
	return nil
}

// Best is the token with the largest logit, the first one if there is a tie.
func Best(logits []float32) (int32, error) {
	best := 0
	for i, v := range logits {
		if v != v {
			return 0, errors.New("the model's logits hold NaN")
		}
		if v > logits[best] {
			best = i
		}
	}
	return int32(best), nil
}
