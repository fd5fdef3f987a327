package chat

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"flashlab/nn"
	"flashlab/nn/lm"
)

// Session is a conversation with a model.
type Session struct {
	Model    lm.LM
	Template *Template
	Stops    []int32 // besides the template's own mark: tokens that end an answer
	Sampler  nn.Sampler
	Tokens   int // of an answer, at most
	// Read, if there is one, is told how many tokens of what was said are read.
	Read func(done, all int)

	begun bool
}

// Answer is what came of one question.
type Answer struct {
	Tokens []int32
	Read   int             // tokens that the model read first
	First  time.Duration   // until the first token
	Each   []time.Duration // from one token to the next
	Forgot bool            // the conversation had become too long, and began anew with this question
	Cut    string          // why the answer ended before the model ended it; "" if the model did
}

// Stopping are all tokens that end an answer.
func (s *Session) Stopping() []int32 {
	if s.Template.Chats() && !slices.Contains(s.Stops, s.Template.end) {
		return append([]int32{s.Template.end}, s.Stops...)
	}
	return s.Stops
}

// Say asks the model, and gives each token of its answer to emit as it comes. Empty words are an error: a model would go on
// from nothing.
func (s *Session) Say(text string, emit func(token int32) error) (a Answer, err error) {
	if text == "" {
		return a, errors.New("there is nothing to answer: the text is empty")
	}
	if s.Tokens < 1 {
		return a, fmt.Errorf("answers of %d tokens: want 1 at least", s.Tokens)
	}
	if err := s.Sampler.Check(); err != nil {
		return a, err
	}
	began := time.Now()
	if err := s.read(text, &a); err != nil {
		return a, err
	}
	return a, s.answer(&a, began, emit)
}

// read gives the model what was said: the first time as a prompt, then token by token behind what it has said itself.
func (s *Session) read(text string, a *Answer) error {
	tokens := s.Template.Next(text)
	if s.begun && s.Model.Room() <= len(tokens) {
		s.begun, a.Forgot = false, true
	}
	if !s.begun {
		tokens = s.Template.First(text)
		a.Read = len(tokens)
		if err := s.Model.Prefill(tokens); err != nil {
			return fmt.Errorf("the question: %w", err)
		}
		s.begun = true
		return nil
	}
	a.Read = len(tokens)
	for i, token := range tokens {
		if s.Read != nil {
			s.Read(i, len(tokens))
		}
		if err := s.Model.Step(token); err != nil {
			return fmt.Errorf("the question: %w", err)
		}
	}
	return nil
}

func (s *Session) answer(a *Answer, began time.Time, emit func(token int32) error) error {
	stops := s.Stopping()
	for {
		token, err := s.next()
		if err != nil {
			return fmt.Errorf("token %d: %w", len(a.Tokens)+1, err)
		}
		now := time.Now()
		if len(a.Tokens) == 0 {
			a.First = now.Sub(began)
		} else {
			a.Each = append(a.Each, now.Sub(began))
		}
		if slices.Contains(stops, token) {
			return nil
		}
		a.Tokens = append(a.Tokens, token)
		if err := emit(token); err != nil {
			return err
		}
		began = time.Now() // showing a token is not the model's time
		switch err := s.Model.Step(token); {
		case errors.Is(err, lm.ErrFull):
			a.Cut = fmt.Sprintf("there is room for %d tokens, and the conversation has as many", s.Model.Positions())
			return nil
		case err != nil:
			return fmt.Errorf("token %d: %w", len(a.Tokens)+1, err)
		case len(a.Tokens) == s.Tokens:
			a.Cut = fmt.Sprintf("an answer has %d tokens at most", s.Tokens)
			return nil
		}
	}
}

func (s *Session) next() (int32, error) {
	if s.Sampler.Temperature == 0 {
		return s.Model.Greedy()
	}
	logits, err := s.Model.Logits()
	if err != nil {
		return 0, err
	}
	token, err := s.Sampler.Next(logits)
	return int32(token), err
}
