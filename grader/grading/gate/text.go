package gate

import (
	"regexp"
	"strings"

	"flashlab/device"
)

// Normal is the form of a kernel's text that is both looked at and compiled, so that no
// two readers can take it differently: lines end with a newline and nothing else, blanks
// are spaces and tabs, and a backslash that joins two lines has nothing behind it. Lines
// and columns stay as they are.
func Normal(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = normalForm.Replace(text)
	return behindBackslash.ReplaceAllString(text, "\\\n")
}

var (
	normalForm      = strings.NewReplacer("\r", "\n", "\f", " ", "\v", " ")
	behindBackslash = regexp.MustCompile(`\\[ \t]+\n`)
)

// joinLines undoes the continuation of lines by a backslash, which may split a
// word in two, and keeps the count of lines by adding the newlines afterwards.
func joinLines(text string) string {
	var b strings.Builder
	owed := 0
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], "\\\n") {
			owed++
			i++
			continue
		}
		b.WriteByte(text[i])
		if text[i] == '\n' {
			b.WriteString(strings.Repeat("\n", owed))
			owed = 0
		}
	}
	return b.String()
}

// readable are a kernel's lines with their continuations joined, and the same text with comments and
// the insides of strings blanked.
func readable(text string) (lines []string, code string) {
	joined := joinLines(Normal(text))
	return strings.Split(joined, "\n"), device.BlankComments(joined)
}

// hashed is what stands behind the # of a line, if it begins with one: of an #include with the
// file's name, which blanking removes.
func hashed(original, blanked string) (string, bool) {
	hash := strings.TrimLeft(blanked, " \t\f\v\r")
	if !strings.HasPrefix(hash, "#") {
		return "", false
	}
	if d := strings.TrimSpace(hash[1:]); !strings.HasPrefix(d, "include") {
		return d, true
	}
	return includeText(original, blanked), true
}

// includeText is an #include directive with its file name, which blanking
// removes, but without a comment behind it.
func includeText(original, blanked string) string {
	hash := strings.IndexByte(blanked, '#')
	if hash < 0 || hash >= len(original) {
		return "include"
	}
	d := original[hash+1:]
	for _, comment := range []string{"//", "/*"} {
		// A // inside <…> or "…" would not match a header of the list anyway.
		if at := strings.Index(d, comment); at >= 0 {
			d = d[:at]
		}
	}
	return strings.TrimSpace(d)
}
