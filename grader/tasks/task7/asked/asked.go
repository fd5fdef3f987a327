// Package asked says what may be asked of the program that writes with GPT-2: the grader's command hands it on, and the
// program reads it.
package asked

import "flashlab/internal/usage"

// Flags are the program's, beside the device and whose kernels it runs.
var Flags = usage.Flags{
	{Name: "prompt", Usage: "the `text` to go on from"},
	{Name: "prompt-tokens", Usage: "a prompt of so `many` random tokens, for timing"},
	{Name: "tokens", Usage: "how `many` to write; 100 without it"},
	{Name: "model", Usage: "`folder` with a GPT-2 as Hugging Face has it; or 124M, 355M, 774M or 1558M for random weights; the course's own without it"},
	{Name: "temperature", Usage: "0 is greedy; `0.8`, say, draws each token"},
	{Name: "topk", Usage: "draws from the `k` likeliest tokens only"},
	{Name: "topp", Usage: "draws from the likeliest tokens that add up to `p` only"},
	{Name: "seed", Usage: "the `seed` of what is drawn"},
	{Name: "step", Usage: "how a token is decoded: `graph`; in the teachers' tree persistent, too: one kernel for all of it, on a GPU from Hopper on (persistent,bits=16: its matrices in halves)"},
	{Name: "ref", Usage: "beside the same model in plain Go, and Hugging Face's if there is one"},
	{Name: "perplexity", Usage: "measures the perplexity on this `file` of text, and stops"},
	{Name: "cache", Usage: "with PERPLEXITY: keys and values in `kivi`, int8, int4 or halves, or all in turn; in plain Go"},
	{Name: "weights", Usage: "with PERPLEXITY: the layers' matrices in `gptq`, gptq-zeros, int4, int4-zeros or full, or all in turn; in plain Go"},
	{Name: "calibration", Usage: "`file` of text that gptq rounds for, less what PERPLEXITY's has of it; Newton's Opticks without it"},
	{Name: "head", Usage: "`folder` with one head: compares it with PyTorch, and stops"},
}

// Chat are those of the program that talks with a Llama.
var Chat = usage.Flags{
	{Name: "prompt", Usage: "one `question`, which is answered, and no other is asked for"},
	{Name: "system", Usage: "what the model is told before all: `'You answer in rhymes.'`; its own words without it"},
	{Name: "tokens", Usage: "how `many` an answer has at most; 300 without it, 100 in the simulator"},
	{Name: "positions", Usage: "how `many` tokens a conversation has room for; 2048 without it, 512 in the simulator"},
	{Name: "temperature", Usage: "0 is greedy; `0.8`, say, draws each token"},
	{Name: "topk", Usage: "draws from the `k` likeliest tokens only"},
	{Name: "topp", Usage: "draws from the likeliest tokens that add up to `p` only"},
	{Name: "seed", Usage: "the `seed` of what is drawn"},
	{Name: "weights", Usage: "the layers' matrices as `nf4` keeps them, or int4, int4-zeros, nf4-double, mxfp4, nvfp4"},
	{Name: "cache", Usage: "with KERNELS=go: keys and values in `kivi`, int8, int4 or halves"},
	{Name: "ref", Usage: "with PROMPT: the answer beside that of the same model in plain Go"},
}
