package nn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampler picks the next token from a row of logits. The zero value is greedy: it
// takes the largest, and the lowest of several.
type Sampler struct {
	Temperature float64 // divides the logits; 0 is greedy
	TopK        int     // only the so many most likely; 0 is no limit
	TopP        float64 // only the fewest whose probabilities add up to it; 0 is no limit
	Seed        uint64  // the same seed and logits give the same tokens

	random *rand.Rand
	tokens []candidate // kept from call to call
}

type candidate struct {
	token int
	p     float64
}

// Check tells what is wrong with the settings.
func (s *Sampler) Check() error {
	switch {
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 0):
		return fmt.Errorf("sampler: a temperature of %v, want 0 (greedy) or more", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("sampler: top-k of %d, want 0 (no limit) or more", s.TopK)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return fmt.Errorf("sampler: top-p of %v, want 0 (no limit) to 1", s.TopP)
	}
	return nil
}

// Next picks a token. −Inf excludes one; NaN and +Inf are errors, for no model
// means them.
func (s *Sampler) Next(logits []float32) (int, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	best, err := largest(logits)
	if err != nil {
		return 0, err
	}
	if s.Temperature == 0 {
		return best, nil
	}
	s.tokens = s.tokens[:0]
	for i, v := range logits {
		if p := math.Exp((float64(v) - float64(logits[best])) / s.Temperature); p > 0 {
			s.tokens = append(s.tokens, candidate{i, p}) // relative to the best: never above 1
		}
	}
	return s.draw(s.likely()), nil
}

// likely are the tokens within TopK and TopP, the most likely first if there is a
// limit.
func (s *Sampler) likely() []candidate {
	tokens := s.tokens
	if s.TopK > 0 || limited(s.TopP) {
		slices.SortFunc(tokens, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.token, b.token))
		})
	}
	if s.TopK > 0 {
		tokens = tokens[:min(s.TopK, len(tokens))]
	}
	if limited(s.TopP) {
		wanted, sum := s.TopP*total(tokens), 0.0
		for i, c := range tokens {
			if sum += c.p; sum >= wanted {
				return tokens[:i+1]
			}
		}
	}
	return tokens
}

func limited(p float64) bool { return p > 0 && p < 1 }

// draw picks one by its share.
func (s *Sampler) draw(tokens []candidate) int {
	if s.random == nil {
		s.random = rand.New(rand.NewPCG(s.Seed, 0))
	}
	left := s.random.Float64() * total(tokens)
	for _, c := range tokens {
		if left -= c.p; left < 0 {
			return c.token
		}
	}
	return tokens[len(tokens)-1].token // rounding
}

func total(tokens []candidate) float64 {
	sum := 0.0
	for _, c := range tokens {
		sum += c.p
	}
	return sum
}

// largest is where the largest logit stands, the first of several.
func largest(logits []float32) (int, error) {
	best := -1
	for i, v := range logits {
		if v != v || math.IsInf(float64(v), 1) {
			return 0, fmt.Errorf("sampler: logit %d is %v: the model's output is broken", i, v)
		}
		if !math.IsInf(float64(v), -1) && (best < 0 || v > logits[best]) {
			best = i
		}
	}
	if best < 0 {
		return 0, errors.New("sampler: there is no token to choose: want a logit above -Inf")
	}
	return best, nil
}
