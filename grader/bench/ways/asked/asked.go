// Package asked says what may be asked of the program that runs a Llama in several ways: the grader's command hands
// it on, and the program reads it.
package asked

// Flags are the program's, beside the device and the folder to write to: what each is called, and does.
var Flags = []Flag{
	{"shape", "of a model with random weights: 70B, `8B`, 3B, 1B or tiny; without it 8B, in the simulator tiny"},
	{"model", "`folder` of a Llama as Hugging Face has it, instead"},
	{"batch", "`sequences` that step together; 1 without it"},
	{"prompt", "the `text` that every prompt is; with MODEL"},
	{"prompt-tokens", "`tokens` of each sequence's prompt; without it 512, in the simulator 20"},
	{"perplexity", "`file` of text: prompts are its stretches, and the perplexity is of what follows them; with MODEL"},
	{"tokens", "new `tokens` of each; without it 512, in the simulator 4"},
	{"ways", "numbers of the ways to run, as `1,2,5`; without it all that this machine supports. 6 and 7 are steps as one kernel"},
	{"seed", "the `seed` of the weights"},
}

// Flag is one of them.
type Flag struct{ Name, Usage string }

// Usage is that of a flag of this name.
func Usage(name string) string {
	for _, f := range Flags {
		if f.Name == name {
			return f.Usage
		}
	}
	panic("no flag is called " + name)
}
