package main

import (
	"fmt"
	"time"

	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
)

// caches measures the perplexity on a file with keys and values that are kept in fewer bits: the model
// in plain Go, whose attention reads what the cache reads back.
func (c choices) caches(w gpt2.Weights, t *bpe.Tokenizer) error {
	_, tokens, err := c.held(t)
	if err != nil {
		return err
	}
	names := []string{c.cache}
	if c.cache == "all" {
		names = gpt2.Caches
	}
	fmt.Printf("%s\n%v\nin plain Go, %d tokens of %s\n\ncache    perplexity\n", w.About(), w.Config(), len(tokens), c.perplexity)
	for _, name := range names {
		attend, err := gpt2.CachedAttend(name)
		if err != nil {
			return err
		}
		r, err := gpt2.NewReference(w, attend)
		if err != nil {
			return err
		}
		start := time.Now()
		p, err := lm.Perplexity(r, tokens)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s %.4f      %v\n", name, p, time.Since(start).Round(time.Second))
	}
	return nil
}
