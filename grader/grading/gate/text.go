package gate

import "strings"

// joinLines undoes the continuation of lines by a backslash, which may split a
// word in two, and keeps the count of lines by adding the newlines afterwards.
func joinLines(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	owed := 0
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			j := i + 1
			for j < len(text) && (text[j] == ' ' || text[j] == '\t') { // g++ joins these too
				j++
			}
			if j < len(text) && text[j] == '\n' {
				owed++
				i = j
				continue
			}
		}
		b.WriteByte(text[i])
		if text[i] == '\n' {
			b.WriteString(strings.Repeat("\n", owed))
			owed = 0
		}
	}
	return b.String()
}

// blank replaces comments and the insides of string and character constants by
// spaces; offsets and lines stay as they are.
func blank(text string) string {
	out := []byte(text)
	clear := func(from, to int) {
		for i := from; i < to && i < len(out); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "//"):
			end := until(text, i, "\n")
			clear(i, end)
			i = end
		case strings.HasPrefix(text[i:], "/*"):
			end := until(text, i+2, "*/")
			clear(i, end+2)
			i = end + 2
		case text[i] == '"':
			end := closingQuote(text, i)
			clear(i+1, end)
			i = end + 1
		case text[i] == '\'' && (i == 0 || !wordByte(text[i-1])): // else 1'000'000
			end := closingQuote(text, i)
			clear(i+1, end)
			i = end + 1
		default:
			i++
		}
	}
	return string(out)
}

// until is the offset of the next mark, or the text's end.
func until(text string, from int, mark string) int {
	if from >= len(text) {
		return len(text)
	}
	if n := strings.Index(text[from:], mark); n >= 0 {
		return from + n
	}
	return len(text)
}

// closingQuote is the offset of the quote that ends the one at open; a string
// never goes past its line.
func closingQuote(text string, open int) int {
	for i := open + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[open], '\n':
			return i
		}
	}
	return len(text)
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
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
