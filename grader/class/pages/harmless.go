package pages

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// short bounds a text that a stranger chose, such as a name.
func short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// lines bounds a longer one.
func lines(s string, most int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range all {
		all[i] = short(all[i], 2000)
	}
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("… and %d more lines", len(all)-most))
	}
	return strings.Join(all, "\n")
}
