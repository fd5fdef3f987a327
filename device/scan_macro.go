package device

import (
	"regexp"
	"strings"
)

// kernelMacro is a macro that writes a kernel, or the words before its name.
type kernelMacro struct {
	Defined int      // the offset behind its definition: it serves what follows
	Name    string   // of the macro
	Params  []string // nil: used without parentheses, as in KERNEL scale(…)
	Body    string   // on one line, so that what it writes is all on the line of its use
}

// most is how often such macros are expanded in a file: a bound, as longest is.
const most = 128

var (
	macroHead  = regexp.MustCompile(`^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\(([^()]*)\))?`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	joined     = regexp.MustCompile(`\s*##\s*`)
	spliced    = strings.NewReplacer("\\\n", " ", "\\\r\n", " ")
)

// kernelMacros finds those among the definitions of a file whose comments are gone.
func kernelMacros(code string) (found []kernelMacro) {
	for i := 0; i < len(code); {
		line := code[i : i+lineEnd(code[i:])] // with its continuation lines
		i += len(line) + 1
		m := macroHead.FindStringSubmatchIndex(line)
		if m == nil || len(line) > longest || !globalToken.MatchString(line[m[1]:]) {
			continue
		}
		macro := kernelMacro{Defined: i, Name: line[m[2]:m[3]], Body: spliced.Replace(line[m[1]:])}
		if m[4] >= 0 {
			macro.Params = strings.FieldsFunc(spliced.Replace(line[m[6]:m[7]]), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		}
		found = append(found, macro)
	}
	return found
}

// expandKernels puts in place of each use of such a macro what it writes. Lines stay as they were.
// A macro that such a macro uses in turn is left as it is.
func expandKernels(code string, macros []kernelMacro) string {
	if len(macros) == 0 {
		return code
	}
	var out strings.Builder
	done, left := 0, most
	for _, at := range identifier.FindAllStringIndex(code, -1) {
		if at[0] < done || left == 0 {
			continue
		}
		if text, end, ok := expandedAt(code, at, macros); ok {
			out.WriteString(code[done:at[0]])
			out.WriteString(text)
			out.WriteString(strings.Repeat("\n", strings.Count(code[at[0]:end], "\n")))
			done, left = end, left-1
		}
	}
	out.WriteString(code[done:])
	return out.String()
}

// expandedAt is what a word stands for, and where its use ends: the last definition before it counts.
func expandedAt(code string, word []int, macros []kernelMacro) (text string, end int, ok bool) {
	for i := len(macros) - 1; i >= 0; i-- {
		m := macros[i]
		if m.Defined > word[0] || m.Name != code[word[0]:word[1]] {
			continue
		}
		if m.Params == nil {
			return m.Body, word[1], true
		}
		open := word[1] + len(code[word[1]:]) - len(strings.TrimLeft(code[word[1]:], " \t\r\n"))
		if open == len(code) || code[open] != '(' {
			return "", 0, false
		}
		inner, closed := balanced(code[open:])
		if !closed || len(inner) > longest/8 {
			return "", 0, false
		}
		return m.with(splitParams(inner)), open + len(inner) + 2, true
	}
	return "", 0, false
}

// with is the macro's body for these arguments.
func (m kernelMacro) with(args []string) string {
	values := map[string]string{}
	for i, p := range m.Params {
		if i < len(args) {
			values[p] = strings.ReplaceAll(strings.TrimSpace(args[i]), "\n", " ")
		}
	}
	body := identifier.ReplaceAllStringFunc(m.Body, func(word string) string {
		if v, ok := values[word]; ok {
			return v
		}
		return word
	})
	return joined.ReplaceAllString(body, "")
}
