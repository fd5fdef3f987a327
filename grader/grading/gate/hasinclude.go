package gate

import (
	"regexp"
	"slices"
	"strings"
)

// A kernel that can test for any file learns whether it runs in a sandbox, and where solutions are. So it may test for
// the headers that it may include, which everybody has, and for no other file.

var (
	asks      = regexp.MustCompile(`\b__has_(include|include_next|embed)(__)?\b`)
	askForm   = regexp.MustCompile(`^__has_include\s*\(\s*(<[^>]*>|"[^"]*")\s*\)`)
	condition = regexp.MustCompile(`^\s*#\s*(if|elif|ifdef|ifndef|elifdef|elifndef)\b`)
	whether   = regexp.MustCompile(`(\bdefined\s*\(?\s*|#\s*(el)?ifn?def\s+)$`) // the compiler knows the question
)

// checkHasInclude looks at each __has_include of a line. blanked has the original's columns, without comments and the
// insides of strings.
func (r Rules) checkHasInclude(line int, original, blanked string, refuse func(int, string, string)) {
	for _, at := range asks.FindAllStringIndex(blanked, -1) {
		word := blanked[at[0]:at[1]]
		asked := condition.MatchString(blanked)
		if asked && word == "__has_include" && whether.MatchString(blanked[:at[0]]) {
			continue
		}
		m := askForm.FindStringSubmatch(original[at[0]:])
		if !asked || m == nil {
			refuse(line, word, "write #if __has_include(<header.h>), with the name of a header that a kernel may include")
			continue
		}
		if name := m[1][1 : len(m[1])-1]; !slices.Contains(r.Headers, name) && !r.allows(name) {
			refuse(line, m[0], "a kernel may test only for headers that it may include")
		}
	}
}

var (
	trigraph  = regexp.MustCompile(`\?\?[=/'()!<>-]`)
	backslash = regexp.MustCompile(`\?\?/[ \t]*$`)
)

// readsAsTrigraph tells whether a compiler that knows trigraphs would read a line otherwise: one in code, and the one
// that is a backslash where that could end a string or a comment otherwise. Elsewhere they are only punctuation.
func readsAsTrigraph(original, blanked string) bool {
	for _, at := range trigraph.FindAllStringIndex(original, -1) {
		inside := strings.TrimSpace(blanked[at[0]:at[1]]) == ""
		inString := strings.Count(blanked[:at[0]], `"`)%2 == 1
		if !inside || inString && original[at[1]-1] == '/' {
			return true
		}
	}
	return backslash.MatchString(original)
}
