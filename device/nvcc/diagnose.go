package nvcc

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/internal/glob"
)

// The shapes that messages have, from the four programs that nvcc runs.
var (
	// kernels.cu(4): error: identifier "x" is undefined
	frontEnd = regexp.MustCompile(`^(.+?)\((\d+)\): ((?:catastrophic |internal )?error|warning|note)(?: #[\w-]+)?: (.*)$`)
	// At end of source: error: expected a "}"
	endOfSource = regexp.MustCompile(`^At end of source: error(?: #[\w-]+)?: (.*)$`)
	// kernels.cu:1:10: fatal error: x.h: No such file or directory
	preprocessor = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (fatal error|error|warning|note): (.*)$`)
	// As in: ptxas kernels.ptx, line 29; error   : Unknown modifier '.op'
	assembler = regexp.MustCompile(`^ptxas .*, line (\d+); (error|warning)\s*: (.*)$`)
	// As in: ptxas error   : Entry function 'k' uses too much shared data …
	// ptxas fatal   : Unresolved extern function '_Z1ff'
	wholeFile = regexp.MustCompile(`^(?:ptxas|nvlink) (error|fatal|warning)\s*: (.*)$`)
	quoted    = regexp.MustCompile(`'(\w+)'`)
	caret     = regexp.MustCompile(`^\s*\^\s*$`)
)

// place is a line of one of a source's files.
type place struct {
	file string
	line int
}

// parse reads the messages about a source, the errors first. ptx maps the lines of the assembler's
// input to lines of its files.
func parse(output string, src device.Source, ptx map[int]place) []device.Diagnostic {
	lines := strings.Split(strings.ReplaceAll(output, "\r", ""), "\n")
	var found []device.Diagnostic
	for i, line := range lines {
		d, ok := parseLine(line, src, ptx)
		if !ok {
			continue
		}
		d.File = strings.TrimPrefix(d.File, "./")
		if d.Column == 0 && i+2 < len(lines) {
			d.Column = columnOf(lineOf(src, d.File, d.Line), lines[i+1], lines[i+2])
		}
		found = append(found, d)
	}
	if len(found) > 1 { // "aborted due to errors" says nothing new
		found = dropAborted(found)
	}
	sort.SliceStable(found, func(a, b int) bool { return rank(found[a]) < rank(found[b]) })
	return found
}

// lineOf is a line of one of the source's files; "" if there is none.
func lineOf(src device.Source, file string, n int) string {
	text := src.Files[file]
	if file == src.Name {
		text = src.Text
	}
	if lines := strings.Split(text, "\n"); n > 0 && n <= len(lines) {
		return lines[n-1]
	}
	return ""
}

func parseLine(line string, src device.Source, ptx map[int]place) (device.Diagnostic, bool) {
	if m := frontEnd.FindStringSubmatch(line); m != nil {
		return device.Diagnostic{File: m[1], Line: number(m[2]), Severity: severity(m[3]), Text: m[4]}, true
	}
	if m := endOfSource.FindStringSubmatch(line); m != nil {
		last := 1 + strings.Count(strings.TrimRight(src.Text, "\n"), "\n")
		return device.Diagnostic{File: src.Name, Line: last, Severity: "error", Text: m[1] + " before the end of the file"}, true
	}
	if m := preprocessor.FindStringSubmatch(line); m != nil {
		return device.Diagnostic{File: m[1], Line: number(m[2]), Column: number(m[3]), Severity: severity(m[4]), Text: m[5]}, true
	}
	if m := assembler.FindStringSubmatch(line); m != nil {
		at := ptx[number(m[1])]
		return device.Diagnostic{File: cmp.Or(at.file, src.Name), Line: at.line, Severity: m[2], Text: "assembler: " + m[3]}, true
	}
	if m := wholeFile.FindStringSubmatch(line); m != nil {
		at := kernelPlace(src, m[2])
		return device.Diagnostic{File: at.file, Line: at.line, Severity: severity(m[1]), Text: m[2]}, true
	}
	return device.Diagnostic{}, false
}

// columnOf reads the column off the caret two lines below a message. nvcc shows
// the line with macros expanded: then the caret tells nothing.
func columnOf(source, shown, mark string) int {
	if !caret.MatchString(mark) || strings.TrimPrefix(shown, "  ") != source {
		return 0
	}
	return max(strings.IndexByte(mark, '^')-1, 0)
}

// kernelPlace finds the kernel that a message about the whole file names.
func kernelPlace(src device.Source, message string) place {
	m := quoted.FindStringSubmatch(message)
	if m == nil {
		return place{src.Name, 0}
	}
	for _, name := range append([]string{src.Name}, slices.Sorted(maps.Keys(src.Files))...) {
		text := src.Files[name]
		if name == src.Name {
			text = src.Text
		}
		for _, sig := range device.ScanKernels(text) {
			if sig.Name == m[1] {
				return place{name, sig.Line}
			}
		}
	}
	return place{src.Name, 0}
}

func severity(s string) string {
	switch s {
	case "warning", "note":
		return s
	}
	return "error"
}

func rank(d device.Diagnostic) int {
	if d.Severity == "error" {
		return 0
	}
	return 1
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // the patterns let nothing but digits through
	return n
}

func dropAborted(all []device.Diagnostic) []device.Diagnostic {
	kept := all[:0]
	for _, d := range all {
		if !strings.HasPrefix(d.Text, "Ptx assembly aborted") {
			kept = append(kept, d)
		}
	}
	return kept
}

// fileLine is how PTX numbers the files that its .loc directives name.
var fileLine = regexp.MustCompile(`^\s*\.file\s+(\d+)\s+"([^"]*)"`)

// ptxLines maps the lines of the PTX that was kept in dir to lines of the source's files, which lie
// in dir as well, by the .loc directives that -lineinfo leaves.
func ptxLines(dir string, src device.Source) map[int]place {
	found, _ := glob.In(dir, "*.ptx")
	if len(found) != 1 {
		return nil
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return nil
	}
	all := strings.Split(string(text), "\n")
	files := map[string]string{"1": src.Name} // the list of them is behind the code
	for _, line := range all {
		if m := fileLine.FindStringSubmatch(line); m != nil {
			if name, err := filepath.Rel(dir, m[2]); err == nil && src.Files[name] != "" {
				files[m[1]] = name
			}
		}
	}
	lines, at := map[int]place{}, place{}
	for i, line := range all {
		if f := strings.Fields(line); len(f) >= 3 && f[0] == ".loc" && files[f[1]] != "" {
			at = place{files[f[1]], number(f[2])}
		}
		lines[i+1] = at
	}
	return lines
}
