package verdict

import (
	"strings"
	"unicode"
)

// Plain makes a text safe to show: no character in it moves a cursor, rings, or
// turns the direction of what follows.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.Is(unicode.Cc, r) && !unicode.Is(unicode.Bidi_Control, r) {
			return r
		}
		return '?'
	}, s)
}

// MakePlain makes all that a submission had a hand in safe to show: its own errors,
// and the lines of it that others quote.
func (v *Verdict) MakePlain() {
	v.Refused = Plain(v.Refused)
	for i := range v.Checks {
		c := &v.Checks[i]
		for j := range c.Cases {
			k := &c.Cases[j]
			k.Reason, k.Printed, k.Facts = Plain(k.Reason), Plain(k.Printed), Plain(k.Facts)
			all(k.Details)
			for n := range k.Prints {
				k.Prints[n].Text, k.Prints[n].Kernel = Plain(k.Prints[n].Text), Plain(k.Prints[n].Kernel)
			}
		}
		for j := range c.Findings {
			f := &c.Findings[j]
			f.Kernel, f.File, f.Source, f.Message, f.Hint = Plain(f.Kernel), Plain(f.File), Plain(f.Source), Plain(f.Message), Plain(f.Hint)
			all(f.Notes)
		}
	}
	all(v.Warnings)
	for i := range v.Reports {
		r := &v.Reports[i]
		r.Text, r.Not = Plain(r.Text), Plain(r.Not)
		for _, row := range r.Rows {
			all(row)
		}
	}
}

func all(texts []string) {
	for i, s := range texts {
		texts[i] = Plain(s)
	}
}
