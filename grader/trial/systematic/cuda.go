package main

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	cudaTokens = regexp.MustCompile(`[A-Za-z_]\w*|\d[\w.']*|<<<|>>>|<<=|>>=|->|\+\+|--|[-+*/%&|^=!<>]=|<<|>>|&&|\|\||::|[^\s\w]`)
	cudaWords  = regexp.MustCompile(`^[A-Za-z_]`)
	barriers   = regexp.MustCompile(`\b(__sync\w+|__threadfence\w*|__pipeline_wait_prior|waitForInputs|waitForTheOneBefore)\([^;{}]*\);`)
	skipped    = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|(?m:^[ \t]*#[ \t]*(?:include|pragma|if|ifdef|ifndef|elif|else|endif|undef)\b[^\n]*)|static_assert\([^;]*;`)
)

// piece is a word or a sign.
type piece struct {
	text     string
	from, to int
}

// blanked is the text without what is no code, every place where it was.
func blanked(text string) string {
	return skipped.ReplaceAllStringFunc(text, func(s string) string {
		blank := bytes.Repeat([]byte{' '}, len(s))
		for i := range blank {
			if s[i] == '\n' {
				blank[i] = '\n'
			}
		}
		return string(blank)
	})
}

// ofCUDA finds the changes by tokens. The text is formatted: a sign with space on both sides
// joins two operands, one without is a template's, a pointer's, or a number's own.
func ofCUDA(text string) (all []change) {
	code := blanked(text)
	var tokens []piece
	for _, at := range cudaTokens.FindAllStringIndex(code, -1) {
		tokens = append(tokens, piece{code[at[0]:at[1]], at[0], at[1]})
	}
	r := reader{code: code, tokens: tokens}
	for i := range tokens {
		r.step(i)
		all = append(all, r.at(i)...)
	}
	for _, at := range barriers.FindAllStringIndex(code, -1) {
		if !strings.Contains(code[max(0, at[0]-12):at[0]], "void") {
			all = append(all, change{Kind: barrier, Old: text[at[0]:at[1]], New: ";", from: at[0], to: at[1]})
		}
	}
	return all
}

// reader knows where in a statement a token stands.
type reader struct {
	code      string
	tokens    []piece
	depth     int  // of parentheses
	declaring bool // a declaration, and before its =
	declared  int  // the depth at which it began; -1 for none
	clause    int  // of a for's head: 1 its start, 2 its condition, 3 its step; 0 outside
	head      int  // the depth of that for's head
	begins    bool // the next token begins a statement
}

func (r *reader) step(i int) {
	t := r.tokens[i].text
	if r.begins || i == 0 {
		r.declaring, r.begins = r.declares(i), false
		r.declared = r.depth
	}
	switch t {
	case "(":
		r.depth++
		if i > 0 && r.tokens[i-1].text == "for" {
			r.clause, r.head, r.begins = 1, r.depth, true
		}
	case ")":
		if r.clause > 0 && r.depth == r.head {
			r.clause, r.begins = 0, true
		}
		r.depth--
	case ";":
		r.begins = true
		if r.clause > 0 && r.depth == r.head {
			r.clause++
		}
	case "{", "}":
		r.begins = true
	case "=":
		if r.depth == r.declared {
			r.declaring = false
		}
	case ",":
		if r.depth == r.declared && r.declares(r.statement(i)) {
			r.declaring = true
		}
	}
}

// statement is the token that the statement of token i begins with.
func (r *reader) statement(i int) int {
	for i--; i >= 0; i-- {
		switch r.tokens[i].text {
		case ";", "{", "}":
			return i + 1
		}
	}
	return 0
}

// declares tells whether the statement that begins here declares something: a type, and a name behind it.
func (r *reader) declares(i int) bool {
	if i+1 >= len(r.tokens) || !cudaWords.MatchString(r.tokens[i].text) {
		return false
	}
	switch r.tokens[i].text {
	case "return", "if", "else", "for", "while", "do", "continue", "break", "using":
		return false
	}
	next := r.tokens[i+1]
	return cudaWords.MatchString(next.text) || (next.text == "*" || next.text == "&") && r.code[next.to] != ' ' || next.text == "<" && r.code[next.to] != ' '
}

// spaced tells whether a token stands between spaces.
func (r *reader) spaced(t piece) bool {
	blank := func(at int) bool {
		return at >= 0 && at < len(r.code) && (r.code[at] == ' ' || r.code[at] == '\n')
	}
	return blank(t.from-1) && blank(t.to)
}

// at are the changes at a token.
func (r *reader) at(i int) []change {
	t := r.tokens[i]
	switch t.text {
	case "<", "<=", ">", ">=", "==", "!=":
		if r.spaced(t) {
			kind := comparison
			if r.clause == 2 && r.depth == r.head {
				kind = bound
			}
			return compared(t.text, kind, t.from, t.to, t.text)
		}
	case "+", "-":
		if r.spaced(t) && i > 0 && !strings.Contains("=(,?:<>+-*/&|", r.tokens[i-1].text) {
			return []change{{Kind: sign, Old: t.text, New: turned[t.text], from: t.from, to: t.to}}
		}
	case "=":
		if r.clause == 1 && r.depth == r.head {
			return []change{{Kind: start, Old: "=", New: "= 1 +", from: t.from, to: t.to}}
		}
	case "min", "max", "fmaxf", "fminf":
		other := map[string]string{"min": "max", "max": "min", "fmaxf": "fminf", "fminf": "fmaxf"}[t.text]
		return []change{{Kind: extreme, Old: t.text, New: other, from: t.from, to: t.to}}
	case "[":
		if r.declaring && r.depth == r.declared || i == 0 || r.tokens[i-1].text == ")" {
			return nil
		}
		if j := r.base(i); j > 0 && (cudaWords.MatchString(r.tokens[j-1].text) && r.tokens[j-1].text != "return" && r.tokens[j-1].text != "else" || r.tokens[j].text == ")") {
			return nil // a parameter's type
		}
		return []change{{Kind: offset, Old: "[", New: "[1 + ", from: t.from, to: t.to}}
	}
	return nil
}

// base is the token whose elements a chain of brackets takes.
func (r *reader) base(i int) int {
	for i > 0 && r.tokens[i-1].text == "]" {
		depth := 0
		for i--; i > 0; i-- {
			if r.tokens[i].text == "]" {
				depth++
			} else if r.tokens[i].text == "[" {
				if depth--; depth == 0 {
					break
				}
			}
		}
	}
	return i - 1
}
