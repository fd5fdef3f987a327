// Package preprocess reads what a compiler's own preprocessor makes of a kernel's file. Whoever vets
// that sees what is compiled, and not what another reading of the text would be.
package preprocess

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Text is a file's lines, macros expanded and comments gone, and what it includes. The lines of its
// own headers, which came with it, are among them, each time that they are included.
type Text struct {
	File       string
	Lines      []Line
	Includes   []Line   // the paths of what the file or its own headers include
	Strange    []Line   // directives that say other lines are meant
	Headers    string   // the folder of the course's own headers
	Translated bool     // asm in it is inline PTX, and never the host's
	Words      []string // names of the simulator's that macros of these headers bring in
}

// Line is one line, and where a file has it.
type Line struct {
	File   string
	Number int
	Text   string
}

var marker = regexp.MustCompile(`^# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$`)

// Included reads the output for a program that includes the file, which came with these headers. It
// goes by how deep the includes are, not by names: a file could call itself something else.
func Included(output, file string, headers ...string) Text { return read(output, file, "", headers) }

// Main reads the output for the file itself. What comes before it are the compiler's own headers, and
// last the one called before: the file begins behind that.
func Main(output, file, before string, headers ...string) Text {
	return read(output, file, before, headers)
}

func read(output, file, before string, headers []string) Text {
	t := Text{File: file}
	depth, own, at := 0, -1, 0
	var open []string // the file, and its own headers in it that are open; the file's depth is own
	ready := false    // the last header before the file is done: the file comes next
	passed := -1      // the depth at which that header was entered
	for text := range strings.Lines(output) {
		text = strings.TrimRight(text, "\n")
		here := own >= 0 && depth == own+len(open)-1 // in one of the own files, not in what it includes
		m := marker.FindStringSubmatch(text)
		if m == nil {
			if here && strings.TrimSpace(text) != "" {
				t.Lines = append(t.Lines, Line{open[len(open)-1], at, text})
			}
			at++
			continue
		}
		name := strings.TrimPrefix(m[2], "./")
		switch flags := strings.Fields(m[3]); {
		case slices.Contains(flags, "1"):
			depth++
			switch {
			case here:
				t.Includes = append(t.Includes, Line{open[len(open)-1], at, name})
				if slices.Contains(headers, name) {
					open = append(open, name)
				}
			case own == -1 && before == "" && name == file:
				own, open = depth, []string{file}
			case own == -1 && before != "" && name == before:
				passed = depth - 1
			}
		case slices.Contains(flags, "2"):
			if here {
				open = open[:len(open)-1]
			}
			if depth--; depth < own {
				own = -2 // it is done, and nothing else is it
			}
			ready = ready || depth == passed
		case ready && own == -1 && depth == passed && name == file:
			own, open = depth, []string{file}
		case here && name != open[len(open)-1]:
			t.Strange = append(t.Strange, Line{open[len(open)-1], at, name})
		}
		at, _ = strconv.Atoi(m[1])
	}
	return t
}
