package copies

import (
	"regexp"
	"strings"

	"flashlab/device"
)

var (
	directive = regexp.MustCompile(`^[ \t]*#[ \t]*(\w*)[ \t]*([A-Za-z_]\w*)?(.*)$`)
	nothing   = regexp.MustCompile(`^[ \t;{}]*$`)
)

// emptyFrom finds the macros of a text that stand for nothing, for semicolons or for braces, and where each begins to. A
// macro that is defined twice, undefined, or defined under a condition is not among them: a name that the compiler may
// still see as itself must not be left out, or every name could be.
func emptyFrom(text string) map[string]int {
	from, count, unclear := map[string]int{}, map[string]int{}, map[string]bool{}
	depth, at, continued := 0, 0, false
	for line := range strings.Lines(device.BlankComments(text)) {
		m := directive.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		at += len(line)
		if ofMacro := continued; m != nil && !ofMacro {
			switch word, name := m[1], m[2]; {
			case strings.HasPrefix(word, "if"):
				depth++
			case word == "endif":
				depth--
			case word == "undef":
				unclear[name] = true
			case word == "define":
				count[name]++
				unclear[name] = unclear[name] || depth != 0 || count[name] > 1 || !nothing.MatchString(m[3])
				from[name] = at
			}
		}
		continued = strings.HasSuffix(strings.TrimRight(line, "\r\n"), "\\")
	}
	for name := range unclear {
		if unclear[name] {
			delete(from, name)
		}
	}
	return from
}
