package hostside

import "strings"

// token is a word, a number, a string or one sign of the code; :: is one token.
type token struct {
	text string
	at   int
}

func (t token) end() int { return t.at + len(t.text) }

// isWord tells names and keywords from numbers and signs.
func (t token) isWord() bool {
	return t.text[0] == '_' || t.text[0] >= 'a' && t.text[0] <= 'z' || t.text[0] >= 'A' && t.text[0] <= 'Z'
}

// tokens of the code (its strings, comments and directives blanked) that lie in own parts.
func tokens(code string, own func(at int) bool) []token {
	var all []token
	for i := 0; i < len(code); {
		c := code[i]
		n := 1
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case isWordByte(c):
			for i+n < len(code) && (isWordByte(code[i+n]) || c >= '0' && c <= '9' && code[i+n] == '\'') {
				n++
			}
		case c == '"' || c == '\'':
			if end := strings.IndexByte(code[i+1:], c); end >= 0 {
				n = end + 2
			}
		case strings.HasPrefix(code[i:], "::"):
			n = 2
		}
		if own(i) {
			all = append(all, token{code[i : i+n], i})
		}
		i += n
	}
	return all
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// skip is the index behind the bracket that closes the one at i, or the end.
func skip(all []token, i int) int {
	depth := 0
	for ; i < len(all); i++ {
		switch all[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return i
}

// skipAngles is the index behind the > that closes the < at i. Brackets inside are
// skipped whole.
func skipAngles(all []token, i int) int {
	depth := 0
	for i < len(all) {
		switch all[i].text {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return i + 1
			}
		case "(", "[", "{":
			i = skip(all, i)
			continue
		case ";", "}":
			return i
		}
		i++
	}
	return i
}
