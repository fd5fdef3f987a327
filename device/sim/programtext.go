package sim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
)

// A launch is what nvcc makes of it: kernel<<<grid, block>>>(a, b) becomes a call of the kernel behind a call that
// keeps the configuration. So template arguments, overloads and conversions are the language's own. The
// kernel's body begins with a constant that stands for it, and with a question: on the host it hands its
// parameters to the launch, and returns.

// edit replaces a part of a text.
type edit struct {
	from, to int
	by       string
}

func edited(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	done := 0
	for _, e := range edits {
		b.WriteString(text[done:e.from])
		b.WriteString(e.by)
		done = e.to
	}
	b.WriteString(text[done:])
	return b.String()
}

// sameColumn begins a line anew where something was put into it: what follows keeps its line and its column.
func (u *unit) sameColumn(at int) string {
	begin := strings.LastIndexByte(u.text[:at], '\n') + 1
	rest, _, _ := strings.Cut(u.text[at:], "\n")
	if strings.TrimSpace(rest) == "" {
		return ""
	}
	return fmt.Sprintf("\n# %d\n%s", u.where(at).line, strings.Repeat(" ", at-begin))
}

var globalWord = regexp.MustCompile(`\b__global__\b`)

// launching is the text in which launches are calls.
func (u *unit) launching() (string, error) {
	own := ownParts(u.text, u.source)
	var edits []edit
	for _, m := range globalWord.FindAllStringIndex(u.code, -1) {
		if !own(m[0]) {
			continue
		}
		edits = append(edits, edit{m[0], m[1], "__attribute__((noinline, used))"})
		if e, ok := kernelStart(u.code, m[0], m[1]); ok {
			body := &e[len(e)-1]
			body.by += u.sameColumn(body.to)
			edits = append(edits, e...)
		}
	}
	for at := 0; ; {
		next := strings.Index(u.code[at:], "<<<")
		if next < 0 {
			break
		}
		at += next
		if own(at) {
			e, end, ok := launchEdits(u.text, u.code, at)
			if !ok {
				where := u.where(at)
				return "", oneError(u.source.name, where.line, "this launch was not understood: kernel<<<grid, block>>>(arguments) is")
			}
			edits = append(edits, e...)
			at = end
			continue
		}
		at += 3
	}
	return edited(u.text, edits), nil
}

// launchEdits turn one launch into a call.
func launchEdits(text, code string, at int) ([]edit, int, bool) {
	start := calleeStart(code, at)
	shut := -1
	for i, depth := at+3, 0; i+2 < len(code); i++ {
		switch c := code[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '>' && depth == 0 && code[i:i+3] == ">>>":
			for i+3 < len(code) && code[i+3] == '>' { // sizeof(T) within a template's arguments
				i++
			}
			shut = i
		case c == ';':
			return nil, 0, false
		}
		if shut >= 0 || depth < 0 {
			break
		}
	}
	if start < 0 || shut < 0 {
		return nil, 0, false
	}
	open := shut + 3
	for open < len(code) && strings.IndexByte(" \t\n", code[open]) >= 0 {
		open++
	}
	if open == len(code) || code[open] != '(' {
		return nil, 0, false
	}
	end := device.Closing(code, open)
	if end < 0 {
		return nil, 0, false
	}
	return []edit{
		{start, start, "(::simt::configure(" + text[at+3:shut] + "), "},
		{at, shut + 3, ""},
		{end + 1, end + 1, ")"},
	}, open, true
}

// calleeStart is where the expression before <<< begins.
func calleeStart(code string, at int) int {
	space := func(i int) int {
		for i > 0 && strings.IndexByte(" \t\n", code[i-1]) >= 0 {
			i--
		}
		return i
	}
	i := space(at)
	for {
		if i == 0 {
			return -1
		}
		switch c := code[i-1]; {
		case c == '>' || c == ')' || c == ']':
			before := skipBack(code, i-1)
			if before < 0 {
				return -1
			}
			i = before
			if j := space(i); j == 0 || !wordByte.MatchString(code[j-1:j]) && code[j-1] != ']' && code[j-1] != ')' {
				if c == ')' { // (*kernel)
					return i
				}
				return -1
			} else if c != ')' || code[j-1] == ')' || code[j-1] == ']' || !beforeCall(code, j) {
				i = j
				continue
			}
			return i
		case wordByte.MatchString(code[i-1 : i]):
			for i > 0 && wordByte.MatchString(code[i-1:i]) {
				i--
			}
		default:
			return -1
		}
		j := space(i)
		switch {
		case j >= 2 && (code[j-2:j] == "::" || code[j-2:j] == "->"):
			if i = space(j - 2); i == 0 || !wordByte.MatchString(code[i-1:i]) && code[i-1] != '>' && code[i-1] != ')' && code[i-1] != ']' {
				return j - 2 // ::kernel
			}
		case j >= 1 && code[j-1] == '.':
			i = space(j - 1)
		default:
			return i
		}
	}
}

var notCalled = regexp.MustCompile(`\b(?:if|while|for|switch|else|return|do)$`)

// beforeCall tells whether the word before a bracket is a keyword, and so no part of the expression.
func beforeCall(code string, end int) bool {
	return notCalled.MatchString(code[max(0, end-8):end])
}

// skipBack is where a bracket's partner stands before it.
func skipBack(code string, at int) int {
	partner := map[byte]byte{')': '(', ']': '[', '>': '<', '}': '{'}
	shut := code[at]
	open := partner[shut]
	for depth := 0; at >= 0; at-- {
		switch c := code[at]; {
		case c == shut && !(shut == '>' && at > 0 && code[at-1] == '-'):
			depth++
		case c == open:
			if depth--; depth == 0 {
				return at
			}
		case shut == '>' && c == ')':
			if at = skipBack(code, at); at < 0 {
				return -1
			}
		case shut == '>' && (c == ';' || c == '{' || c == '}'):
			return -1
		}
	}
	return -1
}
