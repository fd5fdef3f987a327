package sim

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
)

// demangle shows the name inside a simple mangled symbol: _Z4helpf → help.
func demangle(symbol string) string {
	name, _ := lastName(symbol)
	return name
}

// lastName is also what follows it: the letters of an operator or a constructor, say.
func lastName(symbol string) (name, rest string) {
	m := mangled.FindStringSubmatch(symbol)
	if m == nil {
		return symbol, ""
	}
	for {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > len(m[2]) {
			return symbol, ""
		}
		name, rest = m[2][:n], m[2][n:]
		if !nested.MatchString(symbol) || !startsWithDigit.MatchString(rest) { // _ZN5Shape4areaEv: the last of its names
			return name, rest
		}
		m = mangled.FindStringSubmatch("_ZN" + rest)
	}
}

var (
	mangled         = regexp.MustCompile(`^_Z(?:NK?|L)?(\d+)(.+)$`)
	nested          = regexp.MustCompile(`^_ZNK?`)
	startsWithDigit = regexp.MustCompile(`^\d`)
	operator        = regexp.MustCompile(`^[a-z][a-zA-Z]`)
)

func lineOf(text, symbol string) int {
	re, err := regexp.Compile(`\b` + regexp.QuoteMeta(demangle(symbol)) + `\s*\(`)
	if err != nil {
		return 0
	}
	if at := re.FindStringIndex(text); at != nil {
		return 1 + strings.Count(text[:at[0]], "\n")
	}
	return 0
}

// find looks for a symbol's line in the source, and in what it includes.
func (s moduleSource) find(symbol string, lineIn func(text, symbol string) int) (string, int) {
	if line := lineIn(s.text, symbol); line > 0 {
		return s.name, line
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if line := lineIn(s.files[name], symbol); line > 0 {
			return path.Base(name), line
		}
	}
	return s.name, 0
}

// whereUsed is the line where a file uses a function that it does not have.
func whereUsed(text, symbol string) int {
	code := device.BlankNonCode(text)
	for prefix, word := range map[string]string{"_Zn": `\bnew\b`, "_Zd": `\bdelete\b`} {
		if at := regexp.MustCompile(word).FindStringIndex(code); at != nil && strings.HasPrefix(symbol, prefix) {
			return 1 + strings.Count(code[:at[0]], "\n")
		}
	}
	return lineOf(code, symbol)
}
