package task7

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/task6"
	"flashlab/internal/repo"
	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
	"flashlab/tensor"
)

// gpt2Text is the course's own model: its greedy tokens after a prompt from the
// text that it was not trained on.
var gpt2Text = judge.Op{
	Name:  "gpt2_text",
	Sizes: []string{"prompt", "tokens"},
	Rules: func(c problem.Problem) error {
		w, err := bundledWeights()
		if err != nil {
			return err
		}
		if n := c.Sizes["prompt"] + c.Sizes["tokens"]; n > w.Config().Positions {
			return fmt.Errorf("a text of %d tokens: the model has %d positions", n, w.Config().Positions)
		}
		return nil
	},
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		return []problem.Tensor{{Name: "prompt", Shape: []int{c.Sizes["prompt"]}, Given: true, Host: true}},
			[]problem.Tensor{{Name: "tokens", Shape: []int{c.Sizes["tokens"]}}}
	},
	Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
		b, err := bundled()
		if err != nil {
			return err
		}
		return b.prompt(in[0].Data, c)
	},
	Judge:  judgeText,
	Copies: 3,
	Least: func(c problem.Problem) uint64 {
		w, err := bundledWeights()
		if err != nil {
			return 0
		}
		return 4 * uint64(w.Config().Parameters()) * uint64(c.Sizes["tokens"])
	},
}

// bundle is the course's own model.
type bundle struct {
	gpt2.Config
	oracle    *GPT2
	tokenizer *bpe.Tokenizer // nil without one
	held      []int32        // the text that it was not trained on, as tokens
}

// bundledFolder is where it is.
func bundledFolder() (fs.FS, error) {
	root, err := repo.Root()
	if err != nil {
		return nil, err
	}
	return os.DirFS(filepath.Join(root, "task7_gpt2", "model")), nil
}

// bundledWeights opens the file; nothing of it is read but what it holds.
var bundledWeights = sync.OnceValues(func() (gpt2.Weights, error) {
	dir, err := bundledFolder()
	if err != nil {
		return nil, err
	}
	w, err := gpt2.Bundled(dir)
	if err != nil {
		return nil, fmt.Errorf("task7_gpt2/model: %w", err)
	}
	return w, nil
})

var bundled = sync.OnceValues(func() (*bundle, error) {
	dir, err := bundledFolder()
	if err != nil {
		return nil, err
	}
	w, err := bundledWeights()
	if err != nil {
		return nil, err
	}
	b := &bundle{Config: w.Config()}
	if b.oracle, err = gpt2Oracle(w); err != nil {
		return nil, fmt.Errorf("task7_gpt2/model: %w", err)
	}
	text, err := fs.ReadFile(dir, "heldout.txt")
	if err != nil {
		return b, nil // prompts are random tokens then
	}
	if b.tokenizer, err = bpe.Load(dir); err != nil {
		return nil, fmt.Errorf("task7_gpt2/model: %w", err)
	}
	b.held = b.tokenizer.Encode(string(text[:min(len(text), 20000)]))
	return b, nil
})

// prompt picks a place in the text by the case's seed.
func (b *bundle) prompt(to []float32, c problem.Problem) error {
	x := make([]float32, len(to))
	if err := tensor.Fill(x, tensor.Uniform, c.Seed, c.Inputs[0].Stream, 0); err != nil {
		return err
	}
	if places := len(b.held) - len(to); places > 0 {
		at := problem.Token(x[0], places)
		for i := range to {
			to[i] = float32(b.held[at+i])
		}
		return nil
	}
	for i := range to {
		to[i] = float32(problem.Token(x[i], b.Vocabulary))
	}
	return nil
}

// near is how far below the largest logit a token's may lie, of the logits'
// size, and still be taken for the largest: rounding decides there.
const near = 1e-4

// judgeText holds each token against the largest logit after those before it. A
// wrong one is wrong once: what follows goes on from it.
func judgeText(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	b, err := bundled()
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	oracle, err := b.oracle.tinted(c)
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	text := whole(in[0].Data)
	prompt, got := len(text), out.Tensors[0].Data
	for i, v := range got {
		if v != v || v < 0 || int(v) >= b.Vocabulary {
			return judge.Ruling{Reason: fmt.Sprintf("token %d is %v: the model has 0 to %d", i, v, b.Vocabulary-1)}
		}
	}
	text = append(text, whole(got)...)
	logits := GPT2Logits[float64](oracle, text[:len(text)-1], prompt-1, task6.Slip{})
	var wrong []int
	best := make([]int, len(got))
	for i := range got {
		row := logits[i*b.Vocabulary : (i+1)*b.Vocabulary]
		var square float64
		for token, v := range row {
			square += v * v
			if v > row[best[i]] {
				best[i] = token
			}
		}
		size := math.Sqrt(square / float64(len(row)))
		if row[text[prompt+i]] < row[best[i]]-near*size {
			wrong = append(wrong, i)
		}
	}
	if len(wrong) == 0 {
		return judge.Ruling{Passed: true}
	}
	first := wrong[0]
	v := judge.Ruling{Reason: fmt.Sprintf("%d of %d tokens are not the likeliest, from token %d on", len(wrong), len(got), first)}
	if first == 0 {
		v.Reason += ": the prompt's pass is wrong already"
	}
	v.Details = []string{
		fmt.Sprintf("the course's model (%v), a prompt of %d tokens; the grader scales what the attention kernels return, so this is not the text of make gpt2", b.Config, prompt),
		fmt.Sprintf("token %d: got %s, want %s", first, b.show(text[prompt+first]), b.show(best[first])),
		"whose mistake it is can be told of random models: make grade TASK=7 CASE=random",
	}
	return v
}

func whole(x []float32) []int {
	y := make([]int, len(x))
	for i, v := range x {
		y[i] = int(v)
	}
	return y
}

// show is a token with its text.
func (b *bundle) show(token int) string {
	if b.tokenizer == nil {
		return fmt.Sprint(token)
	}
	return fmt.Sprintf("%d (%q)", token, b.tokenizer.Bytes(int32(token)))
}
