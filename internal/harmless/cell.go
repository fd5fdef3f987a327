package harmless

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strings"
	"unicode"
)

// CSV is a table in which no cell can act: not in a terminal, and not in a spreadsheet.
func CSV(rows [][]string) []byte {
	safe := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			safe[i] = append(safe[i], Cell(cell))
		}
	}
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(safe) // into memory
	return b.Bytes()
}

// Row is one line of such a table, without the newline.
func Row(cells ...string) string { return strings.TrimSuffix(string(CSV([][]string{cells})), "\n") }

// Cell keeps a spreadsheet from treating a text as a formula: an apostrophe stands before it, unless it begins with a
// letter, a digit or a sign that no formula begins with, and so behind each semicolon, which is where cells end in much of Europe. A number stays a number.
func Cell(s string) string {
	s = Line(s)
	if number.MatchString(s) {
		return s
	}
	all := strings.Split(s, ";")
	for i, part := range all {
		if !idle(part) {
			all[i] = "'" + part
		}
	}
	return strings.Join(all, ";")
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// idle tells whether nothing could be made of a text but a text.
func idle(s string) bool {
	head := strings.TrimLeftFunc(s, unicode.IsSpace)
	for _, r := range head {
		return unicode.IsLetter(r) || r >= '0' && r <= '9' || strings.ContainsRune("(<[&#", r) // none of these begins a formula
	}
	return true
}

// Uncell is the text that Cell was given, where a table comes back.
func Uncell(s string) string {
	if whole := strings.TrimPrefix(strings.ReplaceAll(s, ";'", ";"), "'"); Cell(whole) == s {
		return whole
	}
	return s
}
