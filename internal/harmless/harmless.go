// Package harmless makes pages safe that hold strangers' texts.
package harmless

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Page makes a page safe to look at, in a browser or with `cat`: whatever moves a cursor, turns the
// direction of writing or cannot be seen is written out. It works on the whole page, after
// html/template has escaped what is HTML's, so that no text can be forgotten.
func Page(page string) string {
	var b strings.Builder
	b.Grow(len(page))
	marks := 0 // combining marks in a row: more than a script needs pile up over other lines
	for _, r := range page {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > mostMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError:
			b.WriteRune('�')
		case joiner(r):
			b.WriteRune(r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const mostMarks = 4

// joiner: Persian and Indian names are not written rightly without these two.
func joiner(r rune) bool { return r == 0x200c || r == 0x200d }
