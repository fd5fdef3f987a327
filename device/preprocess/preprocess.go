// Package preprocess reads what a compiler's own preprocessor makes of a kernel's file. Whoever vets
// that sees what is compiled, and not what another reading of the text would be.
package preprocess

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Text is a file's lines, macros expanded and comments gone, and what it includes.
type Text struct {
	File       string
	Lines      []Line
	Includes   []Line   // the paths of what the file itself includes
	Strange    []Line   // directives that say other lines are meant
	Headers    string   // the folder of the course's own headers
	Translated bool     // asm in it is inline PTX, and never the host's
	Words      []string // names of the simulator's that macros of these headers bring in
}

// Line is one line, and where the file has it.
type Line struct {
	Number int
	Text   string
}

var marker = regexp.MustCompile(`^# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$`)

// Included reads the output for a program that includes the file. It goes by how deep the includes
// are, not by names: a file could call itself something else.
func Included(output, file string) Text { return read(output, file, "") }

// Main reads the output for the file itself. What comes before it are the compiler's own headers, and
// last the one called before: the file begins behind that.
func Main(output, file, before string) Text { return read(output, file, before) }

func read(output, file, before string) Text {
	t := Text{File: file}
	depth, own, at := 0, -1, 0
	ready := false // the last header before the file is done: the file comes next
	passed := -1   // the depth at which that header was entered
	for text := range strings.Lines(output) {
		text = strings.TrimRight(text, "\n")
		m := marker.FindStringSubmatch(text)
		if m == nil {
			if depth == own && strings.TrimSpace(text) != "" {
				t.Lines = append(t.Lines, Line{at, text})
			}
			at++
			continue
		}
		name := strings.TrimPrefix(m[2], "./")
		switch flags := strings.Fields(m[3]); {
		case slices.Contains(flags, "1"):
			if depth == own {
				t.Includes = append(t.Includes, Line{at, name})
			}
			if before != "" && own == -1 && name == before {
				passed = depth
			}
			if depth++; before == "" && own == -1 && name == file {
				own = depth
			}
		case slices.Contains(flags, "2"):
			if depth--; depth < own {
				own = -2 // it is done, and nothing else is it
			}
			ready = ready || depth == passed
		case ready && own == -1 && depth == passed && name == file:
			own = depth
		case depth == own && name != file:
			t.Strange = append(t.Strange, Line{at, name})
		}
		at, _ = strconv.Atoi(m[1])
	}
	return t
}
