package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// line is a row of a table, or of what replaces the table where the terminal is too narrow for it.
type line struct{ head, name, points, note string }

// tabled draws a table if the terminal has room for it: with broken lines it would no
// longer be a table. Otherwise each head has a line, with what belongs to it below.
func (p Printer) tabled(t table.Writer, lines []line) string {
	drawn := p.draw(t)
	if p.Width == 0 || text.LongestLineLen(drawn) <= p.Width {
		return drawn
	}
	name, points := 0, 0
	for _, l := range lines {
		name = max(name, text.StringWidthWithoutEscSequences(l.name))
		points = max(points, text.StringWidthWithoutEscSequences(l.points))
	}
	var out []string
	for _, l := range lines {
		if l.head != "" {
			out = append(out, p.colour(text.WrapSoft(l.head, p.Width), text.Bold))
		}
		row := "  "
		if name > 0 {
			row += text.Pad(l.name, name+2, ' ')
		}
		row += text.Pad(l.points, points, ' ')
		switch beside := row + "  " + l.note; {
		case l.note == "":
			out = append(out, row)
		case text.StringWidthWithoutEscSequences(beside) <= p.Width:
			out = append(out, beside)
		default:
			out = append(out, row, p.wrapped(l.note, "    "))
		}
	}
	return trailing.ReplaceAllString(strings.Join(out, "\n"), "")
}

// wrapped breaks a text between words, where the terminal ends.
func (p Printer) wrapped(s, indent string) string {
	room := max(10, p.Width-len(indent))
	return indent + strings.ReplaceAll(trailing.ReplaceAllString(text.WrapSoft(s, room), ""), "\n", "\n"+indent)
}
