// Command program runs a workload in several ways; `grader ways` builds it on the solutions, and starts it.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flashlab/device"
	"flashlab/device/cuda"
	"flashlab/device/open"
	"flashlab/device/sim"
	"flashlab/grader/bench/ways"
	"flashlab/grader/bench/ways/asked"
	"flashlab/nn/gpt2/bpe"
	"flashlab/nn/half/decoder"
	"flashlab/nn/llama3"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "ways: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("ways", flag.ContinueOnError)
	text := func(name string) *string { return f.String(name, "", asked.Flags.Of(name)) }
	count := func(name string, usual int) *int { return f.Int(name, usual, asked.Flags.Of(name)) }
	shape, model, said, held, begin, numbers := text("shape"), text("model"), text("prompt"), text("perplexity"), text("begin"), text("ways")
	batch, prompt, tokens := count("batch", 1), count("prompt-tokens", 0), count("tokens", 0)
	seed := f.Uint64("seed", 1, asked.Flags.Of("seed"))
	kind := f.String("device", "auto", "auto, sim or cuda")
	out := f.String("out", "out", "`folder` for ways.json and ways.figure.json")
	asJSON := f.Bool("json", false, "print one more line, for `grader bench`: the last way's times in nanoseconds")
	err := f.Parse(args)
	if err != nil {
		return err
	}
	f.Visit(func(one *flag.Flag) {
		if one.Name == "prompt" && *said == "" {
			err = errors.New("PROMPT is empty: want a text to go on from, or none for random tokens")
		}
	})
	if err := errors.Join(err, texts(*model, *said, *held, *begin, *prompt)); err != nil {
		return err
	}
	chosen, err := choose(*numbers)
	if err != nil {
		return err
	}
	d, err := open.Device(*kind, open.Options{Sim: sim.Options{}, CUDA: cuda.Options{}})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	usual := func(n *int, gpu, simulator int) {
		if *n == 0 && d.Info().Kind == device.Sim {
			*n = simulator
		} else if *n == 0 {
			*n = gpu
		}
	}
	usual(prompt, 512, 20)
	usual(tokens, 512, 4)
	if *shape == "" && d.Info().Kind == device.Sim {
		*shape = "tiny"
	} else if *shape == "" {
		*shape = "8B"
	}
	w := ways.Workload{Shape: *shape, Batch: *batch, Prompt: *prompt, Tokens: *tokens, Seed: *seed}
	if err := find(&w, *model); err != nil {
		return err
	}
	tokenizer, err := read(&w, *model, *said, *held, *begin)
	if err != nil {
		return err
	}
	r := ways.NewReport(d, w)
	r.Head(os.Stdout)
	if chosen == nil {
		for _, way := range all() {
			if err := cmp.Or(w.CanBe(way, d.Info()), w.Worth(way, d.Info())); err != nil {
				fmt.Printf("%s: left out: %v\n", way.Name, err)
				continue
			}
			chosen = append(chosen, way)
		}
	}
	if err := ways.Run(d, w, chosen, func(one ways.Result) {
		r.Results = append(r.Results, one)
		how := "done"
		if one.Failed != "" {
			how = "failed"
		}
		fmt.Printf("%s: %s\n", one.Way.Name, how)
	}); err != nil {
		return err
	}
	fmt.Println()
	if err := r.Table(os.Stdout); err != nil {
		return err
	}
	if tokenizer != nil && *held == "" {
		if err := r.Written(os.Stdout, tokenizer); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	file := filepath.Join(*out, "ways.json")
	if err := r.WriteJSON(file); err != nil {
		return err
	}
	fmt.Println("Written:", file)
	if f := r.Figure(); !f.Empty() {
		if err := f.Write(filepath.Join(*out, "ways.figure.json")); err != nil {
			return err
		}
	}
	if *asJSON {
		last := r.Results[len(r.Results)-1]
		if last.Failed != "" {
			return errors.New(last.Failed)
		}
		return json.NewEncoder(os.Stdout).Encode(map[string][]time.Duration{"First": last.Firsts, "Each": last.Eachs})
	}
	return nil
}

// find sets the workload's shape, and its weights if there are some.
func find(w *ways.Workload, folder string) (err error) {
	if folder != "" {
		files, err := llama3.OpenPath(folder)
		if err != nil {
			return err
		}
		w.Shape, w.Llama, w.Weights = folder, files.Config(), files
	} else if w.Shape == "tiny" {
		w.Llama = ways.Tiny
	} else if c, ok := llama3.Sizes[w.Shape]; ok {
		w.Llama = c
	} else {
		return fmt.Errorf("there is no shape %q; there is %s", w.Shape, strings.Join(shapes(), ", "))
	}
	w.Config, err = decoder.Of(w.Llama)
	return err
}

// texts tells what is wrong with the flags about text.
func texts(model, text, held, begin string, prompt int) error {
	switch {
	case begin != "" && held == "":
		return errors.New("BEGIN goes with PERPLEXITY: it is what each piece of that text begins with")
	case text == "" && held == "":
		return nil
	case model == "":
		return errors.New("PROMPT and PERPLEXITY go with MODEL: random weights know no words")
	case text != "" && held != "":
		return errors.New("PROMPT and PERPLEXITY each say what the prompts are: want one of them")
	case text != "" && prompt != 0:
		return errors.New("PROMPT has as many tokens as it has: PROMPT_TOKENS is for prompts of random tokens, or from the file of PERPLEXITY")
	}
	return nil
}

// read makes the prompts of a text, if there is to be one, and gives the tokenizer that did.
func read(w *ways.Workload, folder, text, held, begin string) (*bpe.Tokenizer, error) {
	if text == "" && held == "" {
		return nil, nil
	}
	t, err := ways.Tokenizer(os.DirFS(folder), w.Weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	if text != "" {
		return t, w.Continue(t, text)
	}
	if begin != "" {
		return t, w.Begun(t, held, begin)
	}
	data, err := os.ReadFile(held)
	if err != nil {
		return nil, err
	}
	return t, w.Follow(t, held, string(data))
}

func shapes() []string {
	return append([]string{"tiny"}, slices.Sorted(maps.Keys(llama3.Sizes))...)
}

func all() []ways.Way { return slices.Concat(ways.Ways, ways.OneKernels) }

// choose picks ways by their numbers: none of them without any.
func choose(numbers string) ([]ways.Way, error) {
	if numbers == "" {
		return nil, nil
	}
	var chosen []ways.Way
	for _, n := range strings.Split(numbers, ",") {
		var i int
		if _, err := fmt.Sscanf(strings.TrimSpace(n), "%d", &i); err != nil || i < 1 || i > len(all()) {
			return nil, fmt.Errorf("WAYS=%s: want numbers from 1 to %d", numbers, len(all()))
		}
		chosen = append(chosen, all()[i-1])
	}
	return chosen, nil
}
