package ways

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"flashlab/grader/bench/price"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/llama3"
)

// Text is what a workload reads in place of random tokens.
type Text struct {
	About   string
	Prompts [][]int32 // one for each sequence, all of one length
	Next    [][]int32 // what follows in the text: of each step, a token of each sequence; nil where nothing is known
}

// Tokenizer is that of a model's file, or of its folder. One that knows more tokens than the model belongs to another.
func Tokenizer(dir fs.FS, w llama3.Weights) (*bpe.Tokenizer, error) {
	c := w.Config()
	if g, ok := w.(*llama3.GGUF); ok {
		return bpe.FromGGUF(g.Metadata())
	}
	t, err := bpe.LoadJSON(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("a text needs the model's tokenizer.json, and the folder has none: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if t.Size() > c.Vocabulary {
		return nil, fmt.Errorf("tokenizer.json goes up to token %d, and the model has %d: they do not belong together", t.Size()-1, c.Vocabulary)
	}
	return t, nil
}

// Continue has every sequence go on from one prompt.
func (w *Workload) Continue(t *bpe.Tokenizer, prompt string) error {
	tokens := t.Encode(prompt)
	if len(tokens) == 0 {
		return errors.New("an empty prompt: this tokenizer puts no token before a text, so there is nothing to go on from")
	}
	w.Prompt = len(tokens)
	w.Text = &Text{About: fmt.Sprintf("%q", prompt), Prompts: slices.Repeat([][]int32{tokens}, w.Batch)}
	return nil
}

// Follow gives each sequence the next stretch of a text: a prompt, and the tokens after it, on which
// perplexity is measured. A model that has a token to begin with finds it before every stretch.
func (w *Workload) Follow(t *bpe.Tokenizer, name, text string) error {
	if err := w.Check(); err != nil {
		return err
	}
	tokens, begin := t.Encode(text), []int32{}
	if first := w.Llama.Begin; first >= 0 {
		begin = append(begin, first)
		if len(tokens) > 0 && tokens[0] == first {
			tokens = tokens[1:]
		}
	}
	size := w.Prompt + w.Tokens - len(begin)
	if need := w.Batch * size; len(tokens) < need {
		return fmt.Errorf("%s has %d tokens: %d sequences of %d and %d more need %d; a longer text, or fewer tokens", name, len(tokens), w.Batch, w.Prompt, w.Tokens, need)
	}
	var stretches [][]int32
	for b := range w.Batch {
		stretches = append(stretches, slices.Concat(begin, tokens[b*size:(b+1)*size]))
	}
	w.read(fmt.Sprintf("from %s, which has %d tokens", name, len(tokens)), stretches)
	return nil
}

// Begun gives each sequence a piece of a file that begins with a token of this name. It is cut as `make price` cuts it, so
// the perplexities of both are of the same tokens.
func (w *Workload) Begun(t *bpe.Tokenizer, file, begin string) error {
	if err := w.Check(); err != nil {
		return err
	}
	token, is := t.Special(begin)
	if !is {
		return fmt.Errorf("BEGIN=%s is no special token of this model's", begin)
	}
	passages, err := price.Passages(file)
	if err != nil {
		return err
	}
	pieces := price.Pieces(t, passages, w.Prompt+w.Tokens, token)
	if len(pieces) < w.Batch {
		return fmt.Errorf("%s has %d pieces of %d tokens, and BATCH asks for %d: a longer text, or less of either", file, len(pieces), w.Prompt+w.Tokens, w.Batch)
	}
	w.read(fmt.Sprintf("pieces of %s, each of which begins with %s", file, begin), pieces[:w.Batch])
	return nil
}

// read takes a prompt for each sequence, and what follows it.
func (w *Workload) read(about string, stretches [][]int32) {
	w.Text = &Text{About: about, Next: make([][]int32, w.Tokens)}
	for _, stretch := range stretches {
		w.Text.Prompts = append(w.Text.Prompts, stretch[:w.Prompt])
		for i, token := range stretch[w.Prompt:] {
			w.Text.Next[i] = append(w.Text.Next[i], token)
		}
	}
}

// Written shows what the first sequence goes on with, in each way, up to a token that ends a text.
func (r Report) Written(to io.Writer, t *bpe.Tokenizer) error {
	fmt.Fprintln(to, "\nThe first sequence, as each way goes on:")
	for _, x := range r.Results {
		if x.Failed != "" {
			continue
		}
		var text strings.Builder
		s := t.Stream(&text)
		for _, step := range x.Tokens {
			if slices.Contains(r.Llama.Ends, step[0]) {
				break
			}
			if err := s.Token(step[0]); err != nil {
				return err
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
		fmt.Fprintf(to, "%s: %q\n", x.Way.Name, text.String())
	}
	return nil
}
