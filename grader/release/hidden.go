package release

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

var (
	hiddenCase = regexp.MustCompile(`^\s*\{[^{}]*\bhidden\s*=\s*true\b[^{}]*\},?\s*(#.*)?$`)
	checkHead  = regexp.MustCompile(`^\s*\[\[\s*check\s*\]\]`)
)

// withoutHidden takes the hidden cases out of a rubric, and writes into each check
// how many there were. A case must stand on a line of its own.
func withoutHidden(name string, text []byte) ([]byte, error) {
	var lines []string
	head, withheld := -1, 0
	note := func() {
		if withheld > 0 {
			lines = append(lines[:head+1], append([]string{fmt.Sprintf("withheld = %d # cases that are run after you have handed in", withheld)}, lines[head+1:]...)...)
		}
		withheld = 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if checkHead.MatchString(line) {
			note()
			head = len(lines)
		}
		if hiddenCase.MatchString(line) && head >= 0 {
			withheld++
			continue
		}
		lines = append(lines, line)
	}
	note()
	shown := []byte(strings.Join(lines, "\n"))
	var rest struct {
		Check []struct {
			ID   string
			Case []struct {
				Name   string
				Hidden bool
			}
		}
	}
	if err := toml.Unmarshal(shown, &rest); err != nil {
		return nil, fmt.Errorf("%s without its hidden cases: %w", name, err)
	}
	for _, c := range rest.Check {
		for _, k := range c.Case {
			if k.Hidden {
				return nil, fmt.Errorf("%s: the hidden case %s/%s does not stand on a line of its own, { name = …, hidden = true }, so it cannot be taken out", name, c.ID, k.Name)
			}
		}
	}
	return shown, nil
}
