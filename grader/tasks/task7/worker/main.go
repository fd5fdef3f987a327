// Command task7 runs GPT-2 on a submission of tasks 4, 5 and 6 for the grader.
// With the argument gpt2 it writes text, for `make gpt2`; with chat it talks, for
// `make chat`; with e2e it measures task 6's model, for `make e2e`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"flashlab/device"
	"flashlab/grader/grading/wire"
	"flashlab/grader/grading/worker"
	"flashlab/grader/tasks/talk"
	"flashlab/grader/tasks/task6/pace"
	flash "flashlab/task4_flash"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] != wire.ReplayMode {
		if err := alone(os.Args[1], os.Args[2:]); err != nil {
			if !errors.Is(err, flag.ErrHelp) {
				fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
			}
			os.Exit(1)
		}
		return
	}
	kit := worker.Once(newKit)
	worker.Main(map[string]worker.Op{"gpt2": logits(kit), "gpt2_closer": logits(kit), "gpt2_text": text(kit),
		"model": paced(kit), "flash": worker.Attention(worker.Once(flash.New))}) // timed; the second is for the machine's own test
}

// alone is what it does besides grading.
func alone(what string, args []string) error {
	switch what {
	case "gpt2":
		return write(args)
	case "chat":
		return talker.Main(args)
	case "e2e":
		return pace.Main(os.Stdout, args, parts)
	}
	return errors.New("it can do gpt2, chat and e2e")
}

// talker is `make chat` on the kernels of tasks 4 and 5 and the layer of task 6.
var talker = talk.Program{Kernels: []string{"own", "given", "go"}, Make: func(q device.Queue, kernels string) (talk.Made, error) {
	layer, k, about, err := choices{kernels: kernels}.parts(q)
	return talk.Made{Layers: k.layers, NewLayer: layer, Kernels: k.own, Grouped: kernels == "given", About: about}, err
}}

// parts are those of the model that e2e measures.
func parts(q device.Queue) (pace.Parts, error) {
	k, err := newKit(q)
	if err != nil {
		return pace.Parts{}, err
	}
	return pace.Parts{Layers: k.layers, Layer: k.calls.newLayer, Kernels: k.own, About: "the kernels of tasks 4 and 5 and the layer of task 6"}, nil
}
