package handouts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Of what a quote shows: a text is the next line that has it, "A → B" all lines from that with A to that with B, and
// "…" says that lines are left out, and nothing is an empty line.
const leftOut, upTo = "…", " → "

// of is the block, indented, that shows what its command has printed.
func (q Quote) of(said string) ([]string, error) {
	lines := strings.Split(strings.TrimRight(said, "\n"), "\n")
	var block []string
	if typed, _, _ := strings.Cut(q.Command, " SEED="); q.Text[0] == typed { // which need not say a seed
		block = append(block, typed, "")
	}
	at := 0
	next := func(text string) (int, error) {
		i := slices.IndexFunc(lines[at:], func(l string) bool { return strings.Contains(l, text) })
		if i < 0 {
			return 0, fmt.Errorf("no line with %q in what it prints:\n%s", text, said)
		}
		return at + i, nil
	}
	for _, text := range q.Shown {
		if text == "" {
			block = append(block, "")
			continue
		}
		if text == leftOut {
			last := lines[max(at-1, 0)]
			block = append(block, last[:len(last)-len(strings.TrimLeft(last, " "))]+leftOut)
			continue
		}
		first, last, whole := strings.Cut(text, upTo)
		from, err := next(first)
		if err != nil {
			return nil, err
		}
		to := from
		if whole {
			at = from
			if to, err = next(last); err != nil {
				return nil, err
			}
		}
		block = append(block, lines[from:to+1]...)
		at = to + 1
	}
	for i, line := range block {
		if line = strings.TrimRight(line, " "); line != "" {
			line = indent + line
		}
		block[i] = line
	}
	old := make([]string, len(q.Text))
	for i, line := range q.Text {
		if line != "" {
			old[i] = indent + line
		}
	}
	if slices.EqualFunc(old, block, func(a, b string) bool { return steady(a) == steady(b) }) {
		return old, nil
	}
	return block, nil
}

// varies is what differs from run to run, or from one computer to another: times, estimates of a GPU's, which count what a
// compiler made of loops, and the edition of the course.
var varies = regexp.MustCompile(`\d+(\.\d+)?(m\d+(\.\d+)?)?(s|ms|µs)\b|about [\d.]+ (s|ms|µs) on an .*: |course: \S+`)

func steady(line string) string { return varies.ReplaceAllString(line, "·") }
