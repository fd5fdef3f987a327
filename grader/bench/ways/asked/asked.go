// Package asked says what may be asked of the program that runs a Llama in several ways: the grader's command hands
// it on, and the program reads it.
package asked

import "flashlab/internal/usage"

// Flags are the program's, beside the device and the folder to write to: what each is called, and does.
var Flags = usage.Flags{
	{Name: "shape", Usage: "of a model with random weights: 70B, `8B`, 3B, 1B or tiny; without it 8B, in the simulator tiny"},
	{Name: "model", Usage: "`folder` of a Llama as Hugging Face has it, instead"},
	{Name: "batch", Usage: "`sequences` that step together; 1 without it"},
	{Name: "prompt", Usage: "the `text` that every prompt is; with MODEL"},
	{Name: "prompt-tokens", Usage: "`tokens` of each sequence's prompt; without it 512, in the simulator 20"},
	{Name: "perplexity", Usage: "`file` of text: prompts are its stretches, and the perplexity is of what follows them; with MODEL"},
	{Name: "tokens", Usage: "new `tokens` of each; without it 512, in the simulator 4"},
	{Name: "ways", Usage: "numbers of the ways to run, as `1,2,5`; without it all that this machine supports. 6 and 7 are steps as one kernel"},
	{Name: "seed", Usage: "the `seed` of the weights"},
}
