package sim

import (
	"regexp"
	"strconv"
	"strings"
)

// demangle shows the name inside a simple mangled symbol: _Z4helpf → help.
func demangle(symbol string) string {
	m := mangled.FindStringSubmatch(symbol)
	if m == nil {
		return symbol
	}
	for nested.MatchString(symbol) { // _ZN5Shape4areaEv: the last of its names
		n, err := strconv.Atoi(m[1])
		if err != nil || n > len(m[2]) || !startsWithDigit.MatchString(m[2][n:]) {
			break
		}
		m = mangled.FindStringSubmatch("_ZN" + m[2][n:])
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > len(m[2]) {
		return symbol
	}
	return m[2][:n]
}

var (
	mangled         = regexp.MustCompile(`^_Z(?:NK?|L)?(\d+)(.+)$`)
	nested          = regexp.MustCompile(`^_ZNK?`)
	startsWithDigit = regexp.MustCompile(`^\d`)
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
