package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"flashlab/grader/tasks/talk"
	"flashlab/grader/tasks/task6/pace"
	"flashlab/grader/tasks/task7/asked"
	"flashlab/nn"
	"flashlab/nn/gpt2"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/lm"
	task "flashlab/task7_gpt2"
)

// choices are the flags of `gpt2`.
type choices struct {
	model, prompt, kernels, device string
	head, perplexity, cache, step  string
	weights, calibration           string
	tokens, promptTokens           int
	reference, json                bool
	sampler                        nn.Sampler
}

// flags are those that set them.
func (c *choices) flags() *flag.FlagSet {
	f := flag.NewFlagSet("gpt2", flag.ContinueOnError)
	f.StringVar(&c.model, "model", "", asked.Flags.Of("model"))
	f.StringVar(&c.prompt, "prompt", task.Text(), asked.Flags.Of("prompt"))
	f.StringVar(&c.kernels, "kernels", "own", "own: yours of tasks 4, 5 and 6; given: the course's")
	f.StringVar(&c.device, "device", "auto", "auto, sim or cuda")
	f.StringVar(&c.head, "head", "", asked.Flags.Of("head"))
	f.StringVar(&c.perplexity, "perplexity", "", asked.Flags.Of("perplexity"))
	f.StringVar(&c.cache, "cache", "", asked.Flags.Of("cache"))
	f.StringVar(&c.weights, "weights", "", asked.Flags.Of("weights"))
	f.StringVar(&c.calibration, "calibration", "", asked.Flags.Of("calibration"))
	f.StringVar(&c.step, "step", "graph", asked.Flags.Of("step"))
	f.IntVar(&c.tokens, "tokens", 100, asked.Flags.Of("tokens"))
	f.IntVar(&c.promptTokens, "prompt-tokens", 0, asked.Flags.Of("prompt-tokens"))
	f.BoolVar(&c.json, "json", false, "end with a line of all times and tokens, for a program")
	f.BoolVar(&c.reference, "ref", false, asked.Flags.Of("ref"))
	f.Float64Var(&c.sampler.Temperature, "temperature", 0, asked.Flags.Of("temperature"))
	f.IntVar(&c.sampler.TopK, "topk", 0, asked.Flags.Of("topk"))
	f.Float64Var(&c.sampler.TopP, "topp", 0, asked.Flags.Of("topp"))
	f.Uint64Var(&c.sampler.Seed, "seed", 1, asked.Flags.Of("seed"))
	return f
}

// write is `make gpt2`: text from a model, and how long it took.
func write(args []string) error {
	var c choices
	if err := c.flags().Parse(args); err != nil {
		return err
	}
	if c.kernels != "own" && c.kernels != "given" {
		return fmt.Errorf("-kernels %s: want own or given", c.kernels)
	}
	if err := c.sampler.Check(); err != nil {
		return err
	}
	if c.cache != "" && c.perplexity == "" {
		return errors.New("-cache goes with -perplexity: it tells what a compressed cache costs on a text")
	}
	if c.weights != "" && (c.perplexity == "" || c.cache != "") {
		return errors.New("-weights goes with -perplexity, and without -cache: it tells what rounded weights cost on a text")
	}
	if c.calibration != "" && c.weights == "" {
		return errors.New("-calibration goes with -weights: it is the text that gptq rounds for")
	}
	if c.head != "" {
		return c.compareHead()
	}
	w, t, err := c.open()
	if err != nil {
		return err
	}
	if c.cache != "" {
		return c.caches(w, t)
	}
	if c.weights != "" {
		return c.roundings(w, t)
	}
	if c.reference {
		fmt.Printf("%s\n%v\n\n", w.About(), w.Config())
		return c.beside(w, t)
	}
	r, err := c.runner(w)
	if err != nil {
		return talk.Advice(err)
	}
	defer r.close()
	fmt.Printf("%s\n%v\n%s\n\n", w.About(), w.Config(), r.about)
	if c.perplexity != "" {
		return talk.Advice(c.measure(r, t))
	}
	return talk.Advice(c.stream(r, t))
}

// open finds weights and vocabulary.
func (c choices) open() (gpt2.Weights, *bpe.Tokenizer, error) {
	if size, ok := gpt2.Sizes[c.model]; ok {
		w, err := gpt2.Random(size, 1)
		if err != nil {
			return nil, nil, err
		}
		t, err := bpe.GPT2()
		return w, t, err
	}
	if c.model == "" {
		w, err := gpt2.Bundled(task.Model())
		if err != nil {
			return nil, nil, fmt.Errorf("the course's model: %w", err)
		}
		t, err := vocabulary(task.Model(), w)
		return w, t, err
	}
	if info, err := os.Stat(c.model); err != nil {
		return nil, nil, fmt.Errorf("MODEL=%s: %w", c.model, err)
	} else if !info.IsDir() {
		return nil, nil, fmt.Errorf("MODEL=%s is a file: want the folder that contains it", c.model)
	}
	w, err := gpt2.OpenOrRandom(os.DirFS(c.model))
	if err != nil {
		return nil, nil, fmt.Errorf("MODEL=%s: %w", c.model, err)
	}
	t, err := vocabulary(os.DirFS(c.model), w)
	if err != nil {
		return nil, nil, fmt.Errorf("MODEL=%s: %w", c.model, err)
	}
	return w, t, nil
}

// vocabulary is the folder's own; GPT-2's where the folder has none and the
// number of tokens is right; and else nil: tokens are shown as numbers.
func vocabulary(dir fs.FS, w gpt2.Weights) (*bpe.Tokenizer, error) {
	t, err := bpe.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if w.Config().Vocabulary == gpt2.Sizes["124M"].Vocabulary {
			return bpe.GPT2()
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if have, want := t.Size(), w.Config().Vocabulary; have > want {
		return nil, fmt.Errorf("the vocabulary goes up to token %d, and the model has %d: they do not belong together", have-1, want)
	}
	return t, nil
}

// encode makes the prompt's tokens.
func (c choices) encode(t *bpe.Tokenizer, w gpt2.Config) ([]int32, error) {
	switch {
	case c.promptTokens > 0:
		prompt := make([]int32, c.promptTokens)
		for i := range prompt {
			prompt[i] = int32((i*i + 7*i) % w.Vocabulary)
		}
		return prompt, nil
	case t == nil:
		var prompt []int32
		for _, b := range []byte(c.prompt) {
			prompt = append(prompt, int32(int(b)%w.Vocabulary))
		}
		return prompt, nil
	case c.prompt == "":
		end, ok := t.End()
		if !ok {
			return nil, errors.New("an empty prompt: this vocabulary has no token to begin a text with")
		}
		return []int32{end}, nil
	}
	return t.Encode(c.prompt), nil
}

// stream writes the text as it comes.
func (c choices) stream(r *runner, t *bpe.Tokenizer) error {
	prompt, err := c.encode(t, r.Config())
	if err != nil {
		return err
	}
	g := lm.Generation{Prompt: prompt, Tokens: c.tokens, Sampler: c.sampler, Stop: -1}
	if t == nil {
		fmt.Printf("(no vocabulary is there, so tokens are numbers)\n%v", prompt)
		g.Emit = func(token int32) error { fmt.Printf(" %d", token); return nil }
	} else {
		if end, ok := t.End(); ok {
			g.Stop = end
		}
		if c.promptTokens == 0 {
			fmt.Print(strings.ToValidUTF8(c.prompt, "\ufffd"))
		}
		text := t.Stream(os.Stdout)
		defer func() { _ = text.Close() }()
		g.Emit = text.Token
	}
	if err := r.warm(prompt); err != nil {
		return err
	}
	var written [][]int32
	show := g.Emit
	g.Emit = func(token int32) error {
		written = append(written, []int32{token})
		return show(token)
	}
	timing, err := lm.Generate(r.LM, g)
	fmt.Println()
	if err != nil {
		return err
	}
	r.report(timing, len(prompt))
	if c.json {
		return times(r, prompt, timing, written)
	}
	return nil
}

// times writes all times as a line, with those of some more first tokens.
func times(r *runner, prompt []int32, t lm.Timing, written [][]int32) error {
	work := pace.Work{Prompt: r.Config().Operations(len(prompt)), Token: float64(r.Config().Reads(len(prompt) + len(t.Each)/2))}
	all := pace.Times{First: []time.Duration{t.First}, Each: t.Each, Tokens: written, Work: &work}
	for range 4 {
		again, err := lm.Generate(r.LM, lm.Generation{Prompt: prompt, Tokens: 1, Stop: -1, Emit: func(int32) error { return nil }})
		if err != nil {
			return err
		}
		all.First = append(all.First, again.First)
	}
	return all.Write(os.Stdout)
}

// held is the text that a perplexity is measured on, and its tokens.
func (c choices) held(t *bpe.Tokenizer) (string, []int32, error) {
	text, err := os.ReadFile(c.perplexity)
	if err != nil {
		return "", nil, err
	}
	if t == nil {
		return "", nil, errors.New("a perplexity on text needs the model's vocabulary (vocab.json and merges.txt)")
	}
	return string(text), t.Encode(string(text)), nil
}

// measure is the perplexity on a file.
func (c choices) measure(r *runner, t *bpe.Tokenizer) error {
	_, tokens, err := c.held(t)
	if err != nil {
		return err
	}
	p, err := lm.Perplexity(r, tokens)
	if err != nil {
		return err
	}
	fmt.Printf("perplexity %.4f on the %d tokens of %s\n", p, len(tokens), c.perplexity)
	return nil
}
