// Command program runs a workload in five ways; `grader five` builds it on the solutions, and starts it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/device/cuda"
	"flashlab/device/open"
	"flashlab/device/sim"
	"flashlab/grader/bench/five"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "five: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("five", flag.ContinueOnError)
	shape := f.String("shape", "8b", "the model's: "+strings.Join(shapes(), ", "))
	batch := f.Int("batch", 1, "`sequences` that step together")
	prompt := f.Int("prompt", 512, "`tokens` of each sequence's prompt")
	tokens := f.Int("tokens", 512, "new `tokens` of each")
	seed := f.Uint64("seed", 1, "of the weights")
	ways := f.String("ways", "", "numbers of the ways to run, as 1,2,5; all of them without it")
	kind := f.String("device", "auto", "auto, sim or cuda")
	out := f.String("out", "out", "`folder` for five.json and five.figure.json")
	if err := f.Parse(args); err != nil {
		return err
	}
	config, ok := five.Shapes[*shape]
	if !ok {
		return fmt.Errorf("there is no shape %q; there is %s", *shape, strings.Join(shapes(), ", "))
	}
	chosen, err := choose(*ways)
	if err != nil {
		return err
	}
	d, err := open.Device(*kind, open.Options{Sim: sim.Options{}, CUDA: cuda.Options{}})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	w := five.Workload{Config: config, Shape: *shape, Batch: *batch, Prompt: *prompt, Tokens: *tokens, Seed: *seed}
	r := five.NewReport(d, w)
	r.Head(os.Stdout)
	if err := five.Run(d, w, chosen, func(one five.Result) {
		r.Results = append(r.Results, one)
		fmt.Printf("%s: done\n", one.Way.Name)
	}); err != nil {
		return err
	}
	fmt.Println()
	if err := r.Table(os.Stdout); err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	if err := r.WriteJSON(filepath.Join(*out, "five.json")); err != nil {
		return err
	}
	if f := r.Figure(); !f.Empty() {
		return f.Write(filepath.Join(*out, "five.figure.json"))
	}
	return nil
}

func shapes() (names []string) {
	for name := range five.Shapes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// choose picks ways by their numbers.
func choose(numbers string) ([]five.Way, error) {
	if numbers == "" {
		return five.Ways, nil
	}
	var chosen []five.Way
	for _, n := range strings.Split(numbers, ",") {
		var i int
		if _, err := fmt.Sscanf(strings.TrimSpace(n), "%d", &i); err != nil || i < 1 || i > len(five.Ways) {
			return nil, fmt.Errorf("-ways %s: want numbers from 1 to %d", numbers, len(five.Ways))
		}
		chosen = append(chosen, five.Ways[i-1])
	}
	return chosen, nil
}
