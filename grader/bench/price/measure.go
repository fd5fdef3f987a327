package price

import (
	"fmt"
	"time"

	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/llama3"
	"flashlab/nn/lm"
)

// Work is what is measured on.
type Work struct {
	Windows   [][]int32 // texts of one length
	Shown     [][]int32 // to GPTQ
	Questions []Question
	Begin     int32 // the token that each of them begins with; negative for none
	// Known are rows of an earlier run on the same, by their formats' names: they are not measured again. The first
	// format always is, for the others' tokens are compared with its own.
	Known map[string]Row
}

// Row is what came of one format. With Failed, all else is empty.
type Row struct {
	Name       string
	Failed     string    `json:",omitempty"`
	Surprises  []float64 `json:",omitempty"` // by window, the mean of −log p
	Same, Of   int       // tokens that are the likeliest in halves, too, after the same text
	Right      int       // of Asked questions
	Asked      int
	Bytes      int     // of the weights
	TokenBytes float64 // of the cache, for each token
	Seconds    float64

	best []int32
}

// Measure takes a model through all formats, and tells of each when it is done. A format that fails is a row that says
// why; only a model that cannot be read is an error.
func Measure(w llama3.Weights, t *bpe.Tokenizer, formats []Format, work Work, done func(Row)) ([]Row, error) {
	base, err := llama3.NewReference(w)
	if err != nil {
		return nil, err
	}
	if err := halves(base); err != nil {
		return nil, err
	}
	letters, err := letters(t)
	if err != nil && len(work.Questions) > 0 {
		return nil, err
	}
	var rows []Row
	for _, f := range formats {
		if r, is := work.Known[f.Name]; is && len(rows) > 0 {
			rows = append(rows, r)
			done(r)
			continue
		}
		start := time.Now()
		r, err := f.measure(base, t, letters, work)
		if err != nil {
			r = Row{Failed: err.Error()}
		}
		r.Name, r.Seconds = f.Name, time.Since(start).Seconds()
		if len(rows) > 0 && r.Failed == "" && rows[0].Failed == "" {
			r.Of = len(r.best)
			for i, token := range r.best {
				if token == rows[0].best[i] {
					r.Same++
				}
			}
		}
		rows = append(rows, r)
		done(r)
	}
	return rows, nil
}

func (f Format) measure(base *llama3.Reference, t *bpe.Tokenizer, letters []int32, work Work) (r Row, err error) {
	m, bytes, err := f.in(base, work)
	if err != nil {
		return r, err
	}
	r.Bytes, r.TokenBytes = bytes, f.cacheBytes(m.Config())
	for _, text := range work.Windows {
		var sum float64
		err := m.Each(text, func(i int, logits []float32) error {
			if i+1 == len(text) {
				return nil
			}
			sum += lm.Surprise(logits, text[i+1])
			best, err := lm.Best(logits)
			r.best = append(r.best, best)
			return err
		})
		if err != nil {
			return r, err
		}
		r.Surprises = append(r.Surprises, sum/float64(len(text)-1))
	}
	for _, q := range work.Questions {
		said, err := answer(m, begun(t.Plain(q.Text), work.Begin), letters)
		if err != nil {
			return r, err
		}
		r.Asked++
		if said == q.Right {
			r.Right++
		}
	}
	return r, nil
}

// letters are the tokens of the answers.
func letters(t *bpe.Tokenizer) (all []int32, err error) {
	for _, letter := range []string{" A", " B", " C", " D"} {
		tokens := t.Plain(letter)
		if len(tokens) != 1 {
			return nil, fmt.Errorf("the tokenizer makes %d tokens of %q, and an answer must be one: QUESTIONS=0 asks none", len(tokens), letter)
		}
		all = append(all, tokens[0])
	}
	return all, nil
}

// answer is the letter that the model finds likeliest after a question.
func answer(m *llama3.Reference, text, letters []int32) (best int, err error) {
	if err := m.Prefill(text); err != nil {
		return 0, err
	}
	logits, err := m.Logits()
	if err != nil {
		return 0, err
	}
	for i, letter := range letters {
		if logits[letter] > logits[letters[best]] {
			best = i
		}
	}
	return best, nil
}
