package handouts

import (
	"context"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// Picture is a terminal with what a command prints.
type Picture struct {
	Task registry.Name
	File string
	Quote
}

// Pictures are those of README.md.
var Pictures = []Picture{{
	Task: "2", File: "docs/drawings/report.svg",
	Quote: Quote{Command: "make grade TASK=2 SEED=7", Whose: "mutant missing_barrier", Shown: []string{"Task 2: → Attention  ", "", "race on shared memory → hint:", "", "Task 2: → Next:"}},
}}

// Sizes of the picture, in pixels: a character's, a line's, and the frame's.
const wide, high, frame = 8.05, 19, 18

// Draw is a picture as SVG. It is dark, as terminals are, on a light page and on a dark one.
func (t *Tree) Draw(ctx context.Context, task *rubric.Task, p Picture) (string, error) {
	if err := t.lay(task, p.Whose); err != nil {
		return "", err
	}
	said, err := t.print(ctx, p.Command)
	if err != nil {
		return "", err
	}
	p.Text = []string{""}
	lines, err := p.of(said)
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", p.File, p.Command, err)
	}
	return drawn(append([]string{indent + "$ " + p.Command, ""}, lines...)), nil
}

// drawn is a terminal with these lines.
func drawn(lines []string) string {
	longest := 0
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
		longest = max(longest, len([]rune(lines[i])))
	}
	width, height := int(wide*float64(longest))+2*frame, high*len(lines)+2*frame
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", width, height, width, height)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" rx=\"10\" fill=\"#1c2128\"/>\n", width, height)
	b.WriteString("<g font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13\" fill=\"#d1d7e0\" xml:space=\"preserve\">\n")
	for i, line := range lines {
		if line == "" {
			continue
		}
		var text strings.Builder
		xml.EscapeText(&text, []byte(line)) // into memory: no error
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", frame, frame+high*i+14, colour(line), text.String())
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// colours are those of a terminal: the first that fits a line.
var colours = []struct {
	line *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^ *✓`), ` fill="#57ab5a"`},
	{regexp.MustCompile(`^ *✗`), ` fill="#f47067"`},
	{regexp.MustCompile(`^(\$|Next:)`), ` font-weight="bold" fill="#ffffff"`},
	{regexp.MustCompile(`^Task`), ` font-weight="bold"`},
}

func colour(line string) string {
	for _, c := range colours {
		if c.line.MatchString(line) {
			return c.as
		}
	}
	return ""
}
