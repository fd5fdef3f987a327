package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// The kinds of changes.
const (
	bound      = "loop bound"
	start      = "loop start"
	comparison = "comparison"
	offset     = "index offset"
	sign       = "sign"
	extreme    = "min and max"
	barrier    = "barrier"
)

// kinds, in the table's order.
var kinds = []string{bound, start, comparison, offset, sign, extreme, barrier}

// change is one mutant: the text from one place to another, replaced.
type change struct {
	File     string `json:"file"` // "task4_flash/kernels.cu"
	Line     int    `json:"line"`
	Text     string `json:"text"` // the line, as it is
	Kind     string `json:"kind"`
	Old, New string
	Nth      int `json:"nth,omitempty"` // which of the same changes of the same text in this file, from 0 on
	from, to int
}

// String says what is changed: it is the mutant's name, too.
func (c change) String() string {
	return fmt.Sprintf("%s:%d: %s → %s in %s", c.File, c.Line, show(c.Old), show(c.New), c.Text)
}

func show(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return "nothing"
	}
	return "'" + text + "'"
}

// same tells whether two are one change: lines may have moved since.
func (c change) same(d change) bool {
	return c.File == d.File && c.Text == d.Text && c.Old == d.Old && c.New == d.New && c.Nth == d.Nth
}

// apply makes the change.
func (c change) apply(text []byte) []byte {
	return slices.Concat(text[:c.from], []byte(c.New), text[c.to:])
}

// changes are all of a file's.
func changes(file string, text []byte) (all []change, err error) {
	if filepath.Ext(file) == ".go" {
		all, err = ofGo(string(text))
	} else {
		all = ofCUDA(string(text))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	slices.SortStableFunc(all, func(a, b change) int { return a.from - b.from })
	for i := range all {
		c := &all[i]
		c.File = file
		c.Line = 1 + strings.Count(string(text[:c.from]), "\n")
		// The line of the first thing that is changed, not of a space before it.
		at := c.from + len(c.Old) - len(strings.TrimLeft(c.Old, " \n"))
		begin := strings.LastIndexByte(string(text[:at]), '\n') + 1
		c.Line = 1 + strings.Count(string(text[:at]), "\n")
		line, _, _ := strings.Cut(string(text[begin:]), "\n")
		c.Text = strings.TrimSpace(line)
		for _, d := range all[:i] {
			if d.File == c.File && d.Text == c.Text && d.Old == c.Old && d.New == c.New {
				c.Nth++
			}
		}
	}
	return all, nil
}

// compared are the changes of a comparison: one wider, one narrower. Places are those of the
// operator with the spaces around it.
func compared(op, kind string, from, to int, old string) (all []change) {
	put := func(by string) {
		all = append(all, change{Kind: kind, Old: old, New: strings.Replace(old, op, by, 1), from: from, to: to})
	}
	switch op {
	case "<":
		put("<=")
		put("< -1 +")
	case "<=":
		put("<")
		put("<= 1 +")
	case ">":
		put(">=")
		put("> 1 +")
	case ">=":
		put(">")
		put(">= -1 +")
	case "==":
		put("!=")
	case "!=":
		put("==")
	}
	return all
}

// turned are the sums' changes.
var turned = map[string]string{"+": "-", "-": "+"}
