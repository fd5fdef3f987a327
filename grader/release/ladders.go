package release

import (
	"regexp"
	"strings"
)

// ofSolutions are the parts of a rubric that tell of the solution's versions and of its kernels' macros.
var (
	ofSolutions = regexp.MustCompile(`^(\[\[(nvcc|bench\.ladder)\]\]|versions\s*=\s*\[)`)
	section     = regexp.MustCompile(`^\[`)
)

// withoutLadders takes them out of a rubric, with the remarks above each: they tell what a solution does.
func withoutLadders(text []byte) []byte {
	var lines []string
	cut, list := false, false
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case ofSolutions.MatchString(line):
			for n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "#"); n-- {
				lines = lines[:n-1]
			}
			cut, list = true, !section.MatchString(line)
		case cut && list: // to the end of the list
			cut = !strings.HasPrefix(line, "]")
			continue
		case cut && (section.MatchString(line) || strings.HasPrefix(line, "#")): // the next section, or what is said of it
			cut = false
		}
		blank := line == "" && (len(lines) == 0 || lines[len(lines)-1] == "")
		if !cut && !blank {
			lines = append(lines, line)
		}
	}
	return []byte(strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n")
}
