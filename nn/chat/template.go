package chat

import (
	"fmt"
	"regexp"
	"strings"

	"flashlab/nn/gpt2/bpe"
)

// Template is how a model expects to be spoken to: in ChatML, where each turn is
//
//	<|im_start|>user
//	words<|im_end|>
//
// and the model's own begins with the word assistant. A model without one goes on from what it is told.
type Template struct {
	System string // what a conversation begins with, if nobody says otherwise; "" for nothing

	tokenizer  *bpe.Tokenizer
	start, end int32 // -1: it is no ChatML
}

// The marks of ChatML.
const (
	startMark = "<|im_start|>"
	endMark   = "<|im_end|>"
)

// system finds what a template puts in the place of a system's turn that is not there.
var system = regexp.MustCompile(`(?s)!= ?'system'.*?` + regexp.QuoteMeta(startMark) + `system(?:\n|\\n)(.*?)` + regexp.QuoteMeta(endMark))

// templateOf reads a template, which is a program in Jinja: it is not run, only recognised.
func templateOf(text string, t *bpe.Tokenizer) (*Template, error) {
	plain := &Template{tokenizer: t, start: -1, end: -1}
	switch {
	case text == "":
		return plain, nil
	case !strings.Contains(text, startMark) || !strings.Contains(text, endMark):
		return nil, fmt.Errorf("its chat template is none that is known here: only ChatML is, with %s and %s", startMark, endMark)
	}
	start, known := t.Special(startMark)
	end, also := t.Special(endMark)
	if !known || !also {
		return nil, fmt.Errorf("its chat template has %s and %s, and its vocabulary lacks them", startMark, endMark)
	}
	c := &Template{tokenizer: t, start: start, end: end}
	if found := system.FindStringSubmatch(text); found != nil {
		c.System = strings.ReplaceAll(found[1], `\n`, "\n")
	}
	return c, nil
}

// Chats tells whether the model takes turns.
func (c *Template) Chats() bool { return c.start >= 0 }

// turn is what somebody says. Marks that are typed within it are words like others.
func (c *Template) turn(role, text string) []int32 {
	tokens := append([]int32{c.start}, c.tokenizer.Plain(role+"\n"+text)...)
	return append(tokens, c.ending()...)
}

// ending ends a turn.
func (c *Template) ending() []int32 {
	return append([]int32{c.end}, c.tokenizer.Plain("\n")...)
}

// First are the tokens of a conversation's beginning, up to where the model speaks.
func (c *Template) First(text string) []int32 {
	if !c.Chats() {
		return c.tokenizer.Encode(text)
	}
	var tokens []int32
	if c.System != "" {
		tokens = c.turn("system", c.System)
	}
	return append(tokens, c.answered(text)...)
}

// Next are those that follow a model's turn, which it ended or did not.
func (c *Template) Next(text string) []int32 {
	if !c.Chats() {
		return c.tokenizer.Plain(text)
	}
	return append(c.ending(), c.answered(text)...)
}

// answered is a user's turn, and the beginning of the answer.
func (c *Template) answered(text string) []int32 {
	tokens := append(c.turn("user", text), c.start)
	return append(tokens, c.tokenizer.Plain("assistant\n")...)
}
