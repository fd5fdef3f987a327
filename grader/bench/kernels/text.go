package kernels

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// texts finds a file that a kernel includes, by the name in quotes or brackets; "" is one of the system's.
type texts func(name string) string

var include = regexp.MustCompile(`^# ?include ?["<]([^">]+)[">]$`)

// cuda is a file as it counts: without comments, one blank between tokens, and with the course's headers where they
// are included, each once. A macro's default counts as its definition: where Go defines it, Go's text tells. No other directive is evaluated. Which branch of an #if is compiled depends on macros that Go
// defines at run time and on the compiler's own, which are others on another machine: so all branches count.
func cuda(text string, find texts) string {
	var out strings.Builder
	expand(&out, text, find, map[string]bool{})
	return defaults.ReplaceAllStringFunc(out.String(), func(lines string) string {
		if m := defaults.FindStringSubmatch(lines); m[1] == m[3] {
			return m[2]
		}
		return lines
	})
}

// defaults are a macro's definition for where nobody has defined it.
var defaults = regexp.MustCompile(`\n#ifndef (\w+)\n(\n#define (\w+)[^\n]*\n)\n#endif\n`)

func expand(out *strings.Builder, text string, find texts, seen map[string]bool) {
	for line := range strings.Lines(strings.ReplaceAll(bare(text), "\\\n", " ")) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case !strings.HasPrefix(line, "#"):
			tokens(out, line)
		case line == "#pragma once":
		default:
			m := include.FindStringSubmatch(line)
			if m == nil {
				out.WriteString("\n" + line + "\n")
				continue
			}
			if name := path.Base(m[1]); seen[name] {
				continue
			} else if own := find(name); own != "" {
				seen[name] = true
				expand(out, own, find, seen)
				continue
			}
			out.WriteString("\n" + line + "\n")
		}
	}
}

// bare replaces each comment by a blank. What looks like one in a string or a character stays.
func bare(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		n := 1
		switch {
		case strings.HasPrefix(rest, "//"):
			n = until(rest, "\n")
			out.WriteByte(' ')
			i += n
			continue
		case strings.HasPrefix(rest, "/*"):
			n = 2 + until(rest[2:], "*/")
			out.WriteByte(' ')
			i += min(n+2, len(rest))
			continue
		case strings.HasPrefix(rest, `R"`) && strings.Contains(rest, "("):
			mark := rest[2:strings.IndexByte(rest, '(')]
			end := ")" + mark + `"`
			n = min(until(rest, end)+len(end), len(rest))
		case rest[0] == '"' || rest[0] == '\'' && (i == 0 || !isWord(text[i-1])): // not 1'000
			n = quoted(rest)
		}
		out.WriteString(rest[:n])
		i += n
	}
	return out.String()
}

// until is how much comes before end, or all.
func until(text, end string) int {
	if n := strings.Index(text, end); n >= 0 {
		return n
	}
	return len(text)
}

// quoted is the length of a string or character at the beginning of text.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0], '\n':
			return i + 1
		}
	}
	return len(text)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// tokens writes a line's, so that where a formatter breaks lines makes no difference.
func tokens(out *strings.Builder, line string) {
	for i := 0; i < len(line); {
		n := 1
		switch {
		case line[i] == ' ':
			i++
			continue
		case line[i] == '"':
			n = quoted(line[i:])
		case isWord(line[i]):
			for i+n < len(line) && isWord(line[i+n]) {
				n++
			}
		}
		out.WriteString(line[i:i+n] + " ")
		i += n
	}
}

// goCode is a Go file's tokens, without comments.
func goCode(text string) string {
	var out strings.Builder
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", set.Base(), len(text)), []byte(text), nil, 0)
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return out.String()
		}
		if lit == "" || lit == "\n" {
			lit = tok.String()
		}
		out.WriteString(lit + " ")
	}
}
