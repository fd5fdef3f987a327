package nvcc

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"flashlab/device"
)

// The shapes that messages have, from the four programs that nvcc runs.
var (
	// kernels.cu(4): error: identifier "x" is undefined
	frontEnd = regexp.MustCompile(`^(.+?)\((\d+)\): ((?:catastrophic |internal )?error|warning|note)(?: #[\w-]+)?: (.*)$`)
	// At end of source: error: expected a "}"
	endOfSource = regexp.MustCompile(`^At end of source: error(?: #[\w-]+)?: (.*)$`)
	// kernels.cu:1:10: fatal error: x.h: No such file or directory
	preprocessor = regexp.MustCompile(`^(.+?):(\d+):(?:(\d+):)? (fatal error|error|warning|note): (.*)$`)
	// ptxas kernels.ptx, line 29; error   : Unknown modifier '.op'
	assembler = regexp.MustCompile(`^ptxas .*, line (\d+); (error|warning)\s*: (.*)$`)
	// ptxas error   : Entry function 'k' uses too much shared data …
	// ptxas fatal   : Unresolved extern function '_Z1ff'
	wholeFile = regexp.MustCompile(`^(?:ptxas|nvlink) (error|fatal|warning)\s*: (.*)$`)
	quoted    = regexp.MustCompile(`'(\w+)'`)
	caret     = regexp.MustCompile(`^\s*\^\s*$`)
)

// parse reads the messages about the file name, the errors first. ptx maps the
// lines of the assembler's input to lines of the file.
func parse(output, name, text string, ptx map[int]int) []device.Diagnostic {
	source := strings.Split(text, "\n")
	lines := strings.Split(strings.ReplaceAll(output, "\r", ""), "\n")
	var found []device.Diagnostic
	for i, line := range lines {
		d, ok := parseLine(line, name, text, ptx)
		if !ok {
			continue
		}
		if d.Column == 0 && d.File == name && d.Line > 0 && d.Line <= len(source) && i+2 < len(lines) {
			d.Column = columnOf(source[d.Line-1], lines[i+1], lines[i+2])
		}
		found = append(found, d)
	}
	if len(found) > 1 { // "aborted due to errors" says nothing new
		found = dropAborted(found)
	}
	sort.SliceStable(found, func(a, b int) bool { return rank(found[a]) < rank(found[b]) })
	return found
}

func parseLine(line, name, text string, ptx map[int]int) (device.Diagnostic, bool) {
	if m := frontEnd.FindStringSubmatch(line); m != nil {
		return device.Diagnostic{File: m[1], Line: number(m[2]), Severity: severity(m[3]), Text: m[4]}, true
	}
	if m := endOfSource.FindStringSubmatch(line); m != nil {
		last := 1 + strings.Count(strings.TrimRight(text, "\n"), "\n")
		return device.Diagnostic{File: name, Line: last, Severity: "error", Text: m[1] + " before the end of the file"}, true
	}
	if m := preprocessor.FindStringSubmatch(line); m != nil {
		return device.Diagnostic{File: m[1], Line: number(m[2]), Column: number(m[3]), Severity: severity(m[4]), Text: m[5]}, true
	}
	if m := assembler.FindStringSubmatch(line); m != nil {
		return device.Diagnostic{File: name, Line: ptx[number(m[1])], Severity: m[2], Text: "assembler: " + m[3]}, true
	}
	if m := wholeFile.FindStringSubmatch(line); m != nil {
		return device.Diagnostic{File: name, Line: kernelLine(text, m[2]), Severity: severity(m[1]), Text: m[2]}, true
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

// kernelLine finds the kernel that a message about the whole file names.
func kernelLine(text, message string) int {
	m := quoted.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	for _, sig := range device.ScanKernels(text) {
		if sig.Name == m[1] {
			return sig.Line
		}
	}
	return 0
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

// ptxLines maps the lines of the PTX that was kept in dir to lines of the .cu
// file, by the .loc directives that -lineinfo leaves.
func ptxLines(dir string) map[int]int {
	found, _ := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if len(found) != 1 {
		return nil
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return nil
	}
	lines, at := map[int]int{}, 0
	for i, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) >= 3 && f[0] == ".loc" && f[1] == "1" {
			at = number(f[2])
		}
		lines[i+1] = at
	}
	return lines
}
