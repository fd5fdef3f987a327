package sim

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"

	"flashlab/device/trace"
)

// A barrier tells the simulator its line, but not its file. So the lines of the files that a source
// includes are counted from elsewhere: those of the first by name from headerLines on, of the next
// from twice that. Text of more lines nobody hands in. What is shown has plain lines again.
const headerLines = 1 << 20

// numbered is a header's text with its lines counted from there.
func numbered(files map[string]string, name string) string {
	i := slices.Index(slices.Sorted(maps.Keys(files)), name)
	return fmt.Sprintf("#line %d\n%s", (i+1)*headerLines+1, files[name])
}

// fileOf is the file of a line, and its number there; file is where a plain line is from.
func fileOf(files map[string]string, file string, line int) (string, int) {
	if names := slices.Sorted(maps.Keys(files)); line >= headerLines && line/headerLines <= len(names) {
		file = path.Base(names[line/headerLines-1])
	}
	return file, line % headerLines
}

var (
	inFile = regexp.MustCompile(`\b[\w-]+\.\w+:(\d{7,})\b`)
	inLine = regexp.MustCompile(`\bline (\d{7,})\b`)
)

// plainLines gives a finding's places their files and plain lines.
func (m *module) plainLines(f *trace.Finding) {
	if m == nil || len(m.source.Files) == 0 {
		return
	}
	files := m.source.Files
	f.File, f.Line = fileOf(files, f.File, f.Line)
	for i := range f.Sides {
		f.Sides[i].File, f.Sides[i].Line = fileOf(files, f.Sides[i].File, f.Sides[i].Line)
	}
	at := func(digits, format string) string {
		n, _ := strconv.Atoi(digits)
		file, line := fileOf(files, m.source.Name, n)
		return fmt.Sprintf(format, file, line)
	}
	plain := func(text string) string {
		text = inFile.ReplaceAllStringFunc(text, func(s string) string { return at(inFile.FindStringSubmatch(s)[1], "%s:%d") })
		return inLine.ReplaceAllStringFunc(text, func(s string) string { return at(inLine.FindStringSubmatch(s)[1], "line %[2]d of %[1]s") })
	}
	f.Message, f.Hint, f.Notes = plain(f.Message), plain(f.Hint), slices.Clone(f.Notes)
	for i, n := range f.Notes {
		f.Notes[i] = plain(n)
	}
}
