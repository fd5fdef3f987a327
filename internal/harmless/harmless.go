// Package harmless is what every text passes before it leaves: strangers chose parts of it, such as a file's name or
// what a program printed.
package harmless

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes a text safe to look at, in a browser or in a terminal: whatever moves a cursor, turns the direction of
// writing or cannot be seen is written out. It works on whole pages and files, after html/template or Markdown has
// escaped what is theirs, so that no part can be forgotten.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	marks := 0 // combining marks in a row: more than a script needs pile up over other lines
	last := ' '
	for _, r := range s {
		before := last
		last = r
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
		case joiner(r) && before >= firstMark && !joiner(before):
			b.WriteRune(r)
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co), strings.ContainsRune(blanks, r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const mostMarks = 4

// blanks are letters and signs that look like nothing: an id with one would look like another's.
const blanks = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"

// firstMark is the least that a joiner may stand behind: Latin letters need none.
const firstMark = 0x300

// joiner: Persian and Indian names are not written rightly without these two.
func joiner(r rune) bool { return r == 0x200c || r == 0x200d }

// plain tells quickly that there is nothing to do.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Line is the same for what must stay on one line.
func Line(s string) string { return Text(oneLine.Replace(s)) }

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// All makes every text in a value safe, however deep it lies. v is a pointer.
func All(v any) { walk(reflect.ValueOf(v)) }

func walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		walk(v.Elem())
	case reflect.Interface: // what it holds cannot be changed there: it gets another
		if v.IsNil() {
			return
		}
		safe := reflect.New(v.Elem().Type()).Elem()
		safe.Set(v.Elem())
		if walk(safe); v.CanSet() {
			v.Set(safe)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // what is not is nobody's to show
				walk(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() { // the course's own words; what they lead to is replaced
			safe := reflect.New(v.Type().Elem()).Elem()
			safe.Set(v.MapIndex(key))
			walk(safe)
			v.SetMapIndex(key, safe)
		}
	case reflect.String:
		if v.CanSet() && !plain(v.String()) {
			v.SetString(Text(v.String()))
		}
	}
}
