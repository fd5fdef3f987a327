package release

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
)

var (
	hiddenCase = regexp.MustCompile(`^\s*\{[^{}]*\bhidden\s*=\s*true\b[^{}]*\},?\s*(#.*)?$`)
	drawnCases = regexp.MustCompile(`^\s*hidden\s*=\s*\{[^{}]*\}\s*(#.*)?$`)
	checkHead  = regexp.MustCompile(`^\s*\[\[\s*check\s*\]\]`)
)

// cases is what this file needs from a rubric.
type cases struct {
	Check []struct {
		ID     string
		Hidden struct {
			Random int
			Weight float64 // of each; 0 counts as 1
		}
		Case []struct {
			Name   string
			Hidden bool
			Weight float64 // 0 counts as 1
		}
	}
}

// hidden counts a check's hidden cases, those that a class draws among them, and what they weigh.
func (c cases) hidden(check int) (n int, weight float64) {
	drawn := c.Check[check].Hidden
	n, weight = drawn.Random, float64(drawn.Random)*cmp.Or(drawn.Weight, 1)
	for _, k := range c.Check[check].Case {
		if k.Hidden {
			n++
			weight += cmp.Or(k.Weight, 1)
		}
	}
	return n, weight
}

// withoutHidden takes the hidden cases out of a rubric. It writes into each check how
// many there were and their weight, so that points stay what they are. A hidden case
// must be on a separate line.
func withoutHidden(name string, text []byte) ([]byte, error) {
	var before, after cases
	if err := toml.Unmarshal(text, &before); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var lines []string
	check := -1
	for _, line := range strings.Split(string(text), "\n") {
		if (hiddenCase.MatchString(line) || drawnCases.MatchString(line)) && check >= 0 {
			continue
		}
		lines = append(lines, line)
		if !checkHead.MatchString(line) {
			continue
		}
		if check++; check == len(before.Check) {
			return nil, fmt.Errorf("%s: it has more lines [[check]] than checks: is one in a text?", name)
		}
		if n, weight := before.hidden(check); n > 0 {
			lines = append(lines, fmt.Sprintf("withheld = %d # hidden cases, which run when you have handed in", n),
				fmt.Sprintf("withheld_weight = %.6g # of them all; another case weighs 1, if it does not say", weight))
		}
	}
	shown := []byte(strings.Join(lines, "\n"))
	if err := toml.Unmarshal(shown, &after); err != nil {
		return nil, fmt.Errorf("%s without its hidden cases: %w", name, err)
	}
	for _, c := range after.Check {
		if c.Hidden.Random > 0 {
			return nil, fmt.Errorf("%s: how %s draws its hidden cases is not on one line, hidden = { random = … }, so it cannot be taken out", name, c.ID)
		}
		for _, k := range c.Case {
			if k.Hidden {
				return nil, fmt.Errorf("%s: the hidden case %s/%s is not on a line of its own, { name = …, hidden = true }, so it cannot be taken out", name, c.ID, k.Name)
			}
		}
	}
	return shown, nil
}
