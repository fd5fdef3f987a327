// Package handouts keeps the outputs that handouts quote as the course's commands print them. A comment before a quote
// says which command it is of, whose files lie in the students' tree, and which lines are shown:
//
//	<!-- prints: make grade TASK=2 SEED=7 | solution | ✓ → Next: -->
//
// Make prints them anew, in a release made for it; a test says which have changed.
package handouts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Quote is a block of output in a page.
type Quote struct {
	Line    int      // of its comment, from 1
	Command string   // what prints it, in the students' tree
	Whose   string   // the files there: "stub", "solution", or "mutant" and its name
	Shown   []string // which lines
	Text    []string // as it stands, without indentation

	from, to int // the block's lines, from 0
}

const indent = "    "

var comment = regexp.MustCompile(`^<!-- prints: (.*) \| (stub|solution|mutant \w+) \| (.*) -->$`)

// Quotes are the quotes of a page, in their order.
func Quotes(page string) (all []Quote, err error) {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "<!-- prints:") {
			continue
		}
		m := comment.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("line %d: want <!-- prints: COMMAND | stub, solution or mutant NAME | LINES -->", i+1)
		}
		q := Quote{Line: i + 1, Command: m[1], Whose: m[2], Shown: strings.Split(m[3], "; ")}
		q.from = i + 1
		for q.from < len(lines) && lines[q.from] == "" {
			q.from++
		}
		q.to = blockEnd(lines, q.from)
		if q.to == q.from {
			return nil, fmt.Errorf("line %d: no block of output follows", i+1)
		}
		for _, l := range lines[q.from:q.to] {
			q.Text = append(q.Text, strings.TrimPrefix(l, indent))
		}
		all = append(all, q)
	}
	return all, nil
}

// blockEnd is behind an indented block's last line.
func blockEnd(lines []string, i int) int {
	end := i
	for ; i < len(lines) && (lines[i] == "" || strings.HasPrefix(lines[i], indent)); i++ {
		if lines[i] != "" {
			end = i + 1
		}
	}
	return end
}

// printed is what only a program's output has.
var printed = regexp.MustCompile(`^ *(✓|✗|--- (FAIL|PASS|SKIP):|again: make|Task \w+: .* points|Written:|hint: )|of the row's size|no __syncthreads\(\) between`)

// Unmarked are the lines of blocks of output that no comment stands before.
func Unmarked(page string) (numbers []int, err error) {
	quotes, err := Quotes(page)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], indent) || i > 0 && lines[i-1] != "" {
			continue
		}
		end := blockEnd(lines, i)
		marked := slices.ContainsFunc(quotes, func(q Quote) bool { return q.from == i })
		if !marked && slices.ContainsFunc(lines[i:end], func(l string) bool { return printed.MatchString(strings.TrimPrefix(l, indent)) }) {
			numbers = append(numbers, i+1)
		}
		i = max(i, end-1)
	}
	return numbers, nil
}

// Renewed is the page with what each quote's command prints now. What differs from run to run is left as it stands
// where nothing else has changed.
func Renewed(page string, print func(Quote) (string, error)) (string, error) {
	quotes, err := Quotes(page)
	if err != nil {
		return "", err
	}
	lines := strings.Split(page, "\n")
	for _, q := range slices.Backward(quotes) {
		said, err := print(q)
		if err != nil {
			return "", fmt.Errorf("line %d: %w", q.Line, err)
		}
		now, err := q.of(said)
		if err != nil {
			return "", fmt.Errorf("line %d: %s: %w", q.Line, q.Command, err)
		}
		lines = slices.Replace(lines, q.from, q.to, now...)
	}
	return strings.Join(lines, "\n"), nil
}
