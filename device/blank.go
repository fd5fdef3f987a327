package device

import "strings"

// BlankNonCode keeps only the C++ code of a .cu file. Comments, the insides of strings
// and preprocessor lines are replaced by spaces, so that offsets and lines stay as
// they were.
func BlankNonCode(text string) string { return blankDirectives(BlankComments(text), nil) }

// BlankComments replaces comments and the insides of strings and characters by spaces, so
// that offsets and lines stay as they were. It takes words and numbers whole, as a compiler
// does, for a quote may belong to them: L'x', 1'000.
func BlankComments(text string) string {
	out := []byte(text)
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			end := lineEnd(rest)
			blank(out[i : i+end])
			i += end
		case strings.HasPrefix(rest, "/*"):
			end := len(rest)
			if close := strings.Index(rest[2:], "*/"); close >= 0 {
				end = close + 4
			}
			blank(out[i : i+end])
			i += end
		case isWordByte(rest[0]):
			i += wordEnd(rest)
		case rest[0] == '"' || rest[0] == '\'':
			end := literalEnd(rest)
			blank(out[i+1 : i+end])
			i += end + 1
		default:
			i++
		}
	}
	return string(out)
}

// blankDirectives does the same to preprocessor lines, and to what is known not to be compiled:
// between #if 0 and its #else or #endif, and the branches that defined rules out. Comments are already
// gone. defined tells whether a macro is, as far as that is known; nil: nothing is.
func blankDirectives(code string, defined func(macro string) (is, known bool)) string {
	out := []byte(code)
	c := conditionals{defined: defined}
	for i := 0; i < len(code); {
		line := code[i : i+lineEnd(code[i:])] // with its continuation lines
		directive := strings.TrimSpace(line)
		if c.dead > 0 || strings.HasPrefix(directive, "#") {
			blank(out[i : i+len(line)])
		}
		if strings.HasPrefix(directive, "#") {
			c.follow(strings.Fields(directive[1:]))
		}
		i += len(line) + 1
	}
	return string(out)
}

// conditionals is where a line is in the nesting of #if and #endif.
type conditionals struct {
	defined func(macro string) (is, known bool)
	taken   []bool // of those that are open: a branch is known to have been compiled
	dead    int    // the depth of the one whose branch is not compiled; 0 for none
}

// follow goes through one directive.
func (c *conditionals) follow(words []string) {
	if len(words) == 0 {
		return
	}
	depth := len(c.taken)
	switch words[0] {
	case "if", "ifdef", "ifndef":
		holds, known := c.holds(words)
		c.taken = append(c.taken, holds && known)
		if c.dead == 0 && known && !holds {
			c.dead = depth + 1
		}
	case "else", "elif":
		switch {
		case depth > 0 && c.dead == 0 && c.taken[depth-1]:
			c.dead = depth
		case depth > 0 && c.dead == depth && !c.taken[depth-1]:
			c.dead = 0
		}
	case "endif":
		if c.dead == depth {
			c.dead = 0
		}
		c.taken = c.taken[:max(depth-1, 0)]
	}
}

// holds tells whether an #if's condition does, as far as that is known.
func (c *conditionals) holds(words []string) (holds, known bool) {
	switch {
	case len(words) != 2:
		return false, false
	case words[0] == "if":
		return false, words[1] == "0"
	case c.defined == nil:
		return false, false
	}
	is, known := c.defined(words[1])
	return is == (words[0] == "ifdef"), known
}

// blank overwrites everything but newlines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// lineEnd is the length of the line that s starts with, without its newline. A
// backslash at the end joins the next line to it.
func lineEnd(s string) int {
	for i := range len(s) {
		if s[i] == '\n' && !strings.HasSuffix(strings.TrimSuffix(s[:i], "\r"), `\`) {
			return i
		}
	}
	return len(s)
}

// literalEnd is the index of the quote that closes the string or character
// which s starts with, or the end of the line if none does.
func literalEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case s[0], '\n':
			return i
		case '\\':
			i++
		}
	}
	return len(s)
}

// wordEnd is the length of the word or number that s starts with. A quote may
// separate a number's digits: 1'000. Behind a word it begins a character: L'x'.
func wordEnd(s string) int {
	number := s[0] >= '0' && s[0] <= '9'
	for i := 1; i < len(s); i++ {
		separator := number && s[i] == '\'' && i+1 < len(s) && isWordByte(s[i+1])
		if !isWordByte(s[i]) && !separator {
			return i
		}
	}
	return len(s)
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Closing is where the bracket is that belongs to the one at open, or -1. Strings and comments
// must be blanked.
func Closing(code string, open int) int {
	depth := 0
	for i := open; i < len(code); i++ {
		switch code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
