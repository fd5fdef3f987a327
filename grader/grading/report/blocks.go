package report

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/verdict"
)

// Block is one thing that went wrong in a check, or what its cases printed. It is for a page,
// where it appears on its own.
type Block struct {
	Kind  string // "finding", "failure" or "print"
	Title string
	Text  string         // lines; "" where the title says it all
	Found *verdict.Found // nil for what is not one finding
}

// Blocks lists what a student should read about a check: findings first, because a race may be why
// a case is wrong. Hidden cases are counted, not described.
func Blocks(v verdict.Verdict, c verdict.Check) (blocks []Block) {
	for i, f := range c.Findings {
		if i == maxFindings {
			blocks = append(blocks, Block{Kind: "finding", Title: andMore(len(c.Findings) - i)})
			break
		}
		head, rest, _ := strings.Cut(f.String(), "\n")
		if f.Again != "" {
			rest += "\n    again, with what this thread prints: " + f.Again
		}
		blocks = append(blocks, Block{"finding", head, strings.Trim(rest, "\n"), &f})
	}
	groups, hidden := Failures(c)
	for i, g := range groups {
		if i == maxCases {
			blocks = append(blocks, Block{Kind: "failure", Title: "also: " + strings.Join(first(names(groups[i:]), 8), ", ")})
			break
		}
		lines := g.Lines()
		blocks = append(blocks, Block{Kind: "failure", Title: lines[0], Text: strings.Join(lines[1:], "\n")})
	}
	if hidden > 0 {
		blocks = append(blocks, Block{Kind: "failure", Title: fmt.Sprintf("hidden cases that failed: %d", hidden)})
	}
	if lines := printLines(v, c); len(lines) > 0 {
		blocks = append(blocks, Block{Kind: "print", Title: strings.TrimSuffix(lines[0], ":"), Text: strings.Join(lines[1:], "\n")})
	}
	return blocks
}

// Words is the text about a part: why it is not measured, or its note.
func Words(p verdict.Part) string { return note(p) }
