package board

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// skeleton is what a name looks like at a glance: names with the same one cannot be told apart on a page. Case, accents,
// blanks and signs do not count, and letters that look alike are one.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(r)
		if look, ok := looks[r]; ok {
			r = look
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return pairs.Replace(b.String())
}

// pairs of letters that look like one.
var pairs = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d")

// looks are the characters that pass for another.
var looks = table(
	"0o", "1l", "il", "5s", "8b", "2z", "ıl", "øo", "łl", "đd", "ħh", "ßb",
	// Cyrillic
	"аa", "вb", "еe", "кk", "мm", "нh", "оo", "рp", "сc", "тt", "уy", "хx", "ѕs", "іl", "јj", "ԁd", "ԛq", "ԝw", "һh", "гr", "пn", "ь6", "бb", "зz",
	// Greek
	"αa", "βb", "γy", "εe", "ηn", "ιl", "κk", "μu", "νv", "οo", "ρp", "ςc", "σo", "τt", "υu", "χx", "ωw",
	// Armenian
	"օo", "ոn", "սu", "հh", "ցg", "զq",
)

func table(alike ...string) map[rune]rune {
	all := map[rune]rune{}
	for _, two := range alike {
		r := []rune(two)
		all[r[0]] = r[1]
	}
	return all
}
