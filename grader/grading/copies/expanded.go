package copies

import (
	"path"
	"regexp"
	"strings"

	"flashlab/device"
	"flashlab/device/preprocess"
)

// cudasWords are what a compiler's preprocessor makes of CUDA's own words, the simulator's and nvcc's.
var cudasWords = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\bsimt_(threadIdx|blockIdx|blockDim|gridDim)\b`), "$1"},
	{regexp.MustCompile(`\b__constinit\s+thread_local\b`), "__shared__"},
	{regexp.MustCompile(`__attribute__\s*\(\(\s*(?:__)?(global|device|host|shared|constant)(?:__)?\s*\)\)`), "__${1}__"},
	{regexp.MustCompile(`\(?\b__builtin_(?:inff?|nanf?|huge_valf?)\s*\(\s*(?:""\s*)?\)\s*\)?`), "INFINITY"},
}

// FindExpanded is Find for a file of this folder as a compiler's preprocessor left it: macros hide nothing there.
func (l *Library) FindExpanded(folder string, lines []preprocess.Line) (found []Copy) {
	var text strings.Builder
	for _, line := range lines {
		code := strings.ReplaceAll(line.Text, "\n", " ")
		for _, w := range cudasWords {
			code = w.from.ReplaceAllString(code, w.to)
		}
		text.WriteString(code + "\n")
	}
	for _, c := range l.expanded().find("", cudaTokens(device.BlankNonCode(text.String()), nil)) {
		from, to := lines[c.From-1], lines[c.To-1]
		c.File, c.From, c.To = path.Join(folder, from.File), from.Number, to.Number
		found = append(found, c)
	}
	return found
}

// valued is a macro without arguments, as the course's kernels have them: one line.
var valued = regexp.MustCompile(`(?m)^#define ([A-Za-z_]\w*)[ \t]+(\S.*[^\\\n])$`)

// withoutMacros is a text of the course's in which macros of its own stand for their values, line by line.
func withoutMacros(text string) string {
	code := device.BlankComments(text)
	values := map[string]string{}
	for _, m := range valued.FindAllStringSubmatch(code, -1) {
		values[m[1]] = m[2]
	}
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		for range len(values) { // values have macros in them, and none has itself
			next := identifiers.ReplaceAllStringFunc(line, func(name string) string {
				if value, is := values[name]; is {
					return value
				}
				return name
			})
			if strings.HasPrefix(line, "#") || next == line {
				break
			}
			line = next
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

var identifiers = regexp.MustCompile(`[A-Za-z_]\w*`)
