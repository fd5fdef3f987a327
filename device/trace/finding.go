package trace

import (
	"fmt"
	"strings"
)

// Finding is one defect in a kernel, repeats folded.
type Finding struct {
	Check   string // "memcheck", "racecheck", "initcheck", "synccheck", "limits"
	Kind    string // "race", "out of bounds", "uninitialised", …
	Kernel  string
	File    string
	Line    int // 0 where there is none
	Column  int
	Source  string // that line's text
	Message string
	Notes   []string
	Hint    string
	Thread  *[3]int // the first that did it; nil where no thread is meant
	Block   *[3]int
	Sides   []Side `json:",omitempty"` // of a race: the earlier access, and this one
	Count   int    // how often
	Fatal   bool   // the kernel was stopped
}

// Side is one side of a race.
type Side struct {
	File          string
	Line          int
	Op            string // "read", "write", "atomic"
	Thread, Block [3]int
}

// Headline is the finding in one line.
func (f Finding) Headline() string {
	if f.Line == 0 {
		return f.Message
	}
	if f.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// String is the whole message, as compilers write theirs.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Headline())
	if f.Source != "" {
		fmt.Fprintf(&b, "\n  %4d | %s", f.Line, strings.ReplaceAll(f.Source, "\t", " "))
		if f.Column > 0 && f.Column <= len(f.Source)+1 {
			from := accessBegins(f.Source, f.Column-1)
			fmt.Fprintf(&b, "\n       | %s%s^", strings.Repeat(" ", from), strings.Repeat("~", f.Column-1-from))
		}
	}
	for _, note := range f.Notes {
		b.WriteString("\n    " + note)
	}
	if f.Count > 1 {
		fmt.Fprintf(&b, "\n    seen %d times", f.Count)
	}
	if f.Hint != "" {
		b.WriteString("\n    hint: " + f.Hint)
	}
	return b.String()
}

// accessBegins is where in a line an access begins that ends with the bracket at a place: compilers point to the ] of
// part[t + half], and a lone caret there does not say which access is meant. It is the place itself elsewhere.
func accessBegins(line string, at int) int {
	if at >= len(line) || line[at] != ']' {
		return at
	}
	open := 0
	for i := at; i >= 0; i-- {
		switch {
		case line[i] == ']':
			open++
		case line[i] == '[':
			open--
		case open == 0 && !inName(line[i]):
			return i + 1
		}
	}
	if open > 0 { // it began in a line before
		return at
	}
	return 0
}

func inName(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
