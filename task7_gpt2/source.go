// Package gpt2 is task 7: GPT-2 generates text with the kernels and the layer of
// tasks 4, 5 and 6. There is nothing new to program.
//
// README.md is the handout.
package gpt2

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed model
var model embed.FS

//go:embed text.txt
var text string

// Text is the beginning of a text: the kernels go on with it.
func Text() string { return strings.TrimSuffix(text, "\n") }

// Model is the folder of the course's own model, as nn/gpt2 opens it.
func Model() fs.FS {
	dir, err := fs.Sub(model, "model")
	if err != nil {
		return model // cannot happen: the name is a constant
	}
	return dir
}
