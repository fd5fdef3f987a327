// Package asked says what may be asked of the program that runs a Llama in several ways: the grader's command hands
// it on, and the program reads it.
package asked

import "flashlab/internal/usage"

// Flags are the program's, beside the device and the folder to write to: what each is called, and does.
var Flags = usage.Flags{
	{Name: "shape", Usage: "shape of a model with random weights: 70B, `8B`, 3B, 1B or tiny; default: 8B, in the simulator tiny"},
	{Name: "model", Usage: "`folder` of a Llama in Hugging Face's format, or a GGUF file, instead of random weights"},
	{Name: "batch", Usage: "`sequences` that step together; default: 1"},
	{Name: "prompt", Usage: "the `text` of every prompt; with MODEL"},
	{Name: "prompt-tokens", Usage: "`tokens` of each sequence's prompt; default: 512, in the simulator 20"},
	{Name: "perplexity", Usage: "`file` of text to take prompts from; reports the perplexity of what follows each, and writes nothing; with MODEL"},
	{Name: "begin", Usage: "with PERPLEXITY: a piece of the file's passages for each sequence, as make price cuts them, which begins with this `token`, as '<|im_start|>'"},
	{Name: "tokens", Usage: "new `tokens` for each sequence; default: 512, in the simulator 4"},
	{Name: "ways", Usage: "numbers of the ways to run, as `1,2,5`; default: all that this machine supports. 6 and 7 run a step as one kernel"},
	{Name: "seed", Usage: "the `seed` of the weights"},
}
