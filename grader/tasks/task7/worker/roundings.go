package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
)

// calibrationTokens is how many tokens GPTQ rounds for, if the text has as many.
const calibrationTokens = 16384

// roundings measures the perplexity on a file with the layers' matrices rounded, and how far matrices and
// products are from what they were: the model in plain Go.
func (c choices) roundings(w gpt2.Weights, t *bpe.Tokenizer) error {
	text, tokens, err := c.held(t)
	if err != nil {
		return err
	}
	names := []string{c.weights}
	if c.weights == "all" {
		names = gpt2.Roundings
	}
	fmt.Printf("%s\n%v\nin plain Go, %d tokens of %s\n", w.About(), w.Config(), len(tokens), c.perplexity)
	var calibration []int32
	if slices.ContainsFunc(names, gpt2.Calibrates) {
		if calibration, err = c.calibrate(t, text, w.Config().Positions); err != nil {
			return err
		}
		fmt.Printf("GPTQ rounds for %d tokens of %s\n", len(calibration), c.calibration)
	}
	fmt.Print("\n            relative errors\nweights     weights  products   perplexity\n")
	for _, name := range names {
		start := time.Now()
		r, err := gpt2.Rounded(w, name, calibration)
		if err != nil {
			return err
		}
		var weights, products float64
		if name != "full" {
			if weights, products, err = gpt2.Lost(w, r, tokens); err != nil {
				return err
			}
		}
		m, err := gpt2.NewReference(r, nil)
		if err != nil {
			return err
		}
		p, err := lm.Perplexity(m, tokens)
		if err != nil {
			return err
		}
		fmt.Printf("%-10s   %.4f    %.4f      %7.4f      %v\n", name, weights, products, p, time.Since(start).Round(time.Second))
	}
	return nil
}

// calibrate makes the tokens that GPTQ rounds for: pieces as long as the model has positions, from all over
// the text.
func (c choices) calibrate(t *bpe.Tokenizer, held string, positions int) ([]int32, error) {
	if c.calibration == "" {
		return nil, errors.New("gptq needs CALIBRATION=file: a text of the kind that the model will see")
	}
	text, err := os.ReadFile(c.calibration)
	if err != nil {
		return nil, err
	}
	all := t.Encode(unseen(string(text), held))
	if len(all) < positions {
		return nil, fmt.Errorf("CALIBRATION=%s has %d tokens that PERPLEXITY's text has not: want %d at least", c.calibration, len(all), positions)
	}
	pieces := len(all) / positions
	taken := max(1, min(pieces, calibrationTokens/positions))
	var tokens []int32
	for i := range taken {
		from := i * pieces / taken * positions
		tokens = append(tokens, all[from:from+positions]...)
	}
	return tokens, nil
}

// unseen is a text's paragraphs, each on a line of its own and without marks of italics, as the course's model has
// read them (train.py); but none that is in another text, and no headings.
func unseen(text, other string) string {
	const short = 80 // characters
	var kept []string
	for _, p := range strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "_", ""), "\n\n") {
		p = strings.Join(strings.Fields(p), " ")
		if len(p) >= short && !strings.Contains(other, p) {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n\n")
}
