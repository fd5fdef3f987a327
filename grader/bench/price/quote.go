package price

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// quoted stands before a handout's rows of the list, in a fold: <!-- formats: NF4; MXFP4 -->
var quoted = regexp.MustCompile(`^<!-- formats: (.*) -->$`)

// quotedColumns are how many of the list's a handout has: its name, and what it costs in words.
const quotedColumns = 4

// Quote is a handout with its rows as they were measured: those that a comment names, in place of the table behind it.
func (l List) Quote(page string) (string, error) {
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		m := quoted.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		from := i + 1
		for from < len(lines) && lines[from] == "" {
			from++
		}
		to := from
		for to < len(lines) && strings.HasPrefix(lines[to], "|") {
			to++
		}
		if to == from {
			return "", fmt.Errorf("line %d: no table follows", i+1)
		}
		var rows []Row
		for _, name := range strings.Split(m[1], "; ") {
			at := slices.IndexFunc(l.Rows, func(r Row) bool { return r.Name == name })
			if at < 0 {
				return "", fmt.Errorf("line %d: the price list has no %q", i+1, name)
			}
			rows = append(rows, l.Rows[at])
		}
		table := l.markdown(rows, quotedColumns)
		lines = slices.Replace(lines, from, to, table...)
		i = from + len(table) - 1
	}
	return strings.Join(lines, "\n"), nil
}

// Quotes tells whether a page has rows of the list.
func Quotes(page string) bool {
	return slices.ContainsFunc(strings.Split(page, "\n"), quoted.MatchString)
}
