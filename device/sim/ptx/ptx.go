// Package ptx turns inline PTX into C++: each asm statement becomes calls of what
// device/sim/include/simt/ptx.h and the simulator's other headers have. Nothing of its
// text reaches a host's assembler.
package ptx

import (
	"fmt"
	"regexp"
	"strings"

	"flashlab/device"
)

// Error says what of an asm statement cannot be run.
type Error struct {
	At   int // offset of the statement
	Text string
	// Stands is the function whose call stands in its place: whoever compiles that is told. "" if nothing does.
	Stands string
}

func (e *Error) Error() string { return e.Text }

var asmWord = regexp.MustCompile(`\b(?:asm|__asm__|__asm)\b`)

// Rewrite replaces the asm statements of preprocessed C++ by C++ on the same lines. Code is
// the text with comments and the insides of strings blanked, at the same offsets; own tells
// which offsets are of the file that is meant.
func Rewrite(text, code string, own func(at int) bool) (string, []*Error) {
	var out strings.Builder
	var errs []*Error
	done := 0
	for _, m := range asmWord.FindAllStringIndex(code, -1) {
		if m[0] < done || !own(m[0]) {
			continue
		}
		s, end, err := parseStatement(text, code, m[1])
		var cpp string
		if err == nil && strings.TrimSpace(s.text) == "" { // it only holds up the optimiser
			cpp = "asm volatile(\"\" ::: \"memory\")"
		} else if err == nil {
			cpp, err = s.translate(len(errs) + done)
		}
		if err != nil {
			errs = append(errs, &Error{At: m[0], Text: err.Error()})
			if end == 0 {
				continue
			}
			cpp = fmt.Sprintf("simt_lacking_%d()", m[0])
			errs[len(errs)-1].Stands = strings.TrimSuffix(cpp, "()")
		}
		out.WriteString(text[done:m[0]])
		out.WriteString(cpp)
		out.WriteString(newlines(text[m[0]:end]))
		done = end
	}
	out.WriteString(text[done:])
	return out.String(), errs
}

// newlines keeps the lines behind a statement where they were; markers of the preprocessor
// may be among them.
func newlines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			b.WriteString(line)
		} else if strings.HasSuffix(line, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// statement is asm("text" : outputs : inputs : clobbers).
type statement struct {
	text     string
	operands []operand
	outputs  int
}

type operand struct {
	name, constraint, expr string
}

// parseStatement reads what follows the word asm; end is behind its closing parenthesis.
func parseStatement(text, code string, at int) (s statement, end int, err error) {
	open := at
	for {
		open += len(code[open:]) - len(strings.TrimLeft(code[open:], " \t\n"))
		word := regexp.MustCompile(`^(?:volatile|__volatile__|inline|goto)\b`).FindString(code[open:])
		if word == "goto" {
			return s, 0, fmt.Errorf("asm goto: nvcc does not take it either")
		}
		if word == "" {
			break
		}
		open += len(word)
	}
	if open >= len(code) || code[open] != '(' {
		return s, 0, fmt.Errorf("asm without its parenthesis")
	}
	end = device.Closing(code, open)
	if end < 0 {
		return s, 0, fmt.Errorf("asm( is not closed")
	}
	sections := split(code, open+1, end, ':')
	for i, sec := range sections {
		if i == 0 {
			if s.text, err = literals(text[sec[0]:sec[1]]); err != nil {
				return s, 0, err
			}
			continue
		}
		if i > 2 || strings.TrimSpace(code[sec[0]:sec[1]]) == "" {
			continue
		}
		for _, part := range operands(code, sec[0], sec[1]) {
			o, err := parseOperand(text[part[0]:part[1]], code[part[0]:part[1]])
			if err != nil {
				return s, 0, err
			}
			s.operands = append(s.operands, o)
		}
		if i == 1 {
			s.outputs = len(s.operands)
		}
	}
	return s, end + 1, nil
}

// withoutComma is where one operand ends and the next begins, as nvcc takes it too: "r"(a) "r"(b).
var withoutComma = regexp.MustCompile(`\)\s*(?:\[\s*\w+\s*\]\s*)?"`)

// operands cuts code[from:to] into operands.
func operands(code string, from, to int) [][2]int {
	var parts [][2]int
	for _, part := range split(code, from, to, ',') {
		start := part[0]
		for i := start; i < part[1]; i++ {
			if code[i] != '(' {
				continue
			}
			end := device.Closing(code, i)
			if end < 0 || end >= part[1] {
				break
			}
			if withoutComma.MatchString(code[end:part[1]]) && withoutComma.FindStringIndex(code[end:part[1]])[0] == 0 {
				parts = append(parts, [2]int{start, end + 1})
				start = end + 1
			}
			i = end
		}
		parts = append(parts, [2]int{start, part[1]})
	}
	return parts
}

// split cuts code[from:to] at a sign outside all brackets.
func split(code string, from, to int, sign byte) [][2]int {
	var parts [][2]int
	depth, start := 0, from
	for i := from; i < to; i++ {
		switch c := code[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == sign && depth == 0:
			parts = append(parts, [2]int{start, i})
			start = i + 1
		}
	}
	return append(parts, [2]int{start, to})
}

var operandForm = regexp.MustCompile(`(?s)^\s*(?:\[\s*(\w+)\s*\]\s*)?("[^"]*"(?:\s*"[^"]*")*)\s*\((.*)\)\s*$`)

func parseOperand(text, code string) (operand, error) {
	m := operandForm.FindStringSubmatch(text)
	if m == nil {
		return operand{}, fmt.Errorf("an operand of asm is not understood: %s", strings.TrimSpace(text))
	}
	if asmWord.MatchString(code) { // it would stay as it is, and be the host's
		return operand{}, fmt.Errorf("an asm in the operands of another: compute the operand before, in C++")
	}
	constraint, err := literals(m[2])
	return operand{m[1], constraint, strings.Join(strings.Fields(withoutMarkers(m[3])), " ")}, err
}

func withoutMarkers(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// literals joins the string literals of a piece of C++.
func literals(text string) (string, error) {
	var b strings.Builder
	rest := strings.TrimSpace(withoutMarkers(text))
	for rest != "" {
		if rest[0] != '"' {
			return "", fmt.Errorf("the text of asm has to be a string")
		}
		i := 1
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] != '\\' {
				b.WriteByte(rest[i])
				continue
			}
			if i++; i < len(rest) {
				b.WriteString(map[byte]string{'n': "\n", 't': "\t", 'r': "\n"}[rest[i]])
				if !strings.ContainsRune("ntr", rune(rest[i])) {
					b.WriteByte(rest[i])
				}
			}
		}
		if i >= len(rest) {
			return "", fmt.Errorf("a string of asm is not closed")
		}
		rest = strings.TrimSpace(rest[i+1:])
	}
	return b.String(), nil
}
