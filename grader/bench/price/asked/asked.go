// Package asked says what may be asked of the program that measures formats: the grader's command hands it on, and the
// program reads it.
package asked

import "flashlab/internal/usage"

// Flags are the program's, beside the files and the folder to write to: what each is called, and does.
var Flags = usage.Flags{
	{Name: "windows", Usage: "`pieces` of text to measure perplexity on; default: 6"},
	{Name: "length", Usage: "`tokens` of a piece; default: 128"},
	{Name: "shown", Usage: "`pieces` of other text that GPTQ rounds for; default: 32"},
	{Name: "begin", Usage: "the `token` that each text begins with, as '<|im_start|>'; the model's own without it"},
	{Name: "questions", Usage: "`questions` of MMLU to ask, the shortest first; default: 16; 0 asks none"},
	{Name: "resume", Usage: "rows of an earlier run on the same texts, which was stopped, are not measured again"},
}
