package hostside

import "slices"

// Undefined is a statement that declares variables of floating type, and gives them no values.
type Undefined struct {
	Behind int // its semicolon: the place behind it
	Names  []string
}

// UndefinedIn lists those statements in the bodies of functions, in order. What it does not understand it
// leaves out. code is preprocessed, with strings and directives blanked.
func UndefinedIn(code string, own func(at int) bool) []Undefined {
	p := &parser{all: tokens(code, own), own: own}
	for i := 0; i < len(p.all); {
		i = p.scope(i, nil, false)
	}
	s := statements{parser: p, floating: p.floatingTypes()}
	for _, d := range p.found {
		s.bodies(d)
	}
	slices.SortFunc(s.found, func(a, b Undefined) int { return a.Behind - b.Behind })
	return s.found
}

// statements goes through those of functions.
type statements struct {
	*parser
	floating map[string]bool
	found    []Undefined
}

// bodies goes through a function, or those of a class.
func (s *statements) bodies(d *declaration) {
	switch {
	case d.body == [2]int{}:
	case d.function:
		s.block(d.body[0]+1, d.body[1])
	case d.class:
		s.class(d.body[0]+1, d.body[1])
	}
}

func (s *statements) class(i, end int) {
	for i < end {
		if t := s.all[i].text; t == ";" || t == "}" || t == ":" || t == "public" || t == "private" || t == "protected" {
			i++
			continue
		}
		d := s.declaration(i)
		d.last = min(d.last, end-1)
		s.bodies(d)
		i = d.last + 1
	}
}

// block goes through the statements between braces, those within them included.
func (s *statements) block(i, end int) {
	alone := false // the statement of an if or a loop, without braces: nothing may stand behind it
	for i < end {
		t, next := s.all[i].text, false
		switch {
		case t == ";" || t == "{" || t == "}":
			i++
		case t == "else" || t == "do":
			i, next = i+1, true
		case t == "if" || t == "for" || t == "while" || t == "switch":
			for i < end && !s.is(i, "(") {
				i++
			}
			i, next = skip(s.all, i), true
		case t == "case" || t == "default":
			for i < end && !s.is(i, ":") {
				i++
			}
			i++
		case s.all[i].isWord() && s.is(i+1, ":"):
			i += 2
		default:
			i = s.statement(i, end, alone)
		}
		alone = next
	}
}

// statement reads one, and returns what is behind its semicolon.
func (s *statements) statement(i, end int, alone bool) int {
	to := i
	for to < end && !s.is(to, ";") {
		if b := s.all[to].text; b == "(" || b == "[" || b == "{" {
			behind := skip(s.all, to)
			s.within(to, min(behind, end))
			to = behind
			continue
		}
		if s.is(to, "}") {
			return to
		}
		to++
	}
	if to >= end {
		return end
	}
	if names := s.undefined(i, to); len(names) > 0 && !alone {
		s.found = append(s.found, Undefined{s.all[to].end(), names})
	}
	return to + 1
}

// within goes through the bodies of lambdas, and statements that are expressions.
func (s *statements) within(i, end int) {
	switch {
	case s.is(i, "{") && i > 3:
		before := s.all[i-1].text
		if before == ")" || before == "]" || before == "mutable" || s.is(i-2, ">") && s.is(i-3, "-") { // -> T {
			s.block(i+1, end-1)
			return
		}
	case s.is(i, "(") && s.is(i+1, "{"):
		s.block(i+2, skip(s.all, i+1)-1)
		return
	}
	for i++; i < end-1; i++ {
		if b := s.all[i].text; b == "(" || b == "[" || b == "{" {
			behind := min(skip(s.all, i), end-1)
			s.within(i, behind)
			i = behind - 1
		}
	}
}

// notPlain are words with which a statement declares nothing, or no variable of this call's that may be
// filled.
var notPlain = map[string]bool{"static": true, "thread_local": true, "extern": true, "typedef": true, "using": true, "constexpr": true,
	"return": true, "goto": true, "delete": true, "new": true, "throw": true, "volatile": true, "asm": true, "__asm__": true, "__asm": true,
	"struct": true, "class": true, "union": true, "enum": true, "namespace": true, "template": true, "friend": true, "const": true,
	"auto": true, "operator": true, "__shared__": true, "__constinit": true, "register": true, "inline": true, "static_assert": true}

// undefined are the variables that the statement of tokens i to end declares without a value, if their
// type may hold floating numbers.
func (s *statements) undefined(i, end int) []string {
	for at := i; at < end; at++ {
		if t := s.all[at].text; t == "=" || t == "(" && !ignored[s.all[max(at-1, i)].text] {
			break
		} else if notPlain[t] {
			return nil
		}
	}
	i, floats := s.typeAt(s.attributes(i, end), end)
	if !floats {
		return nil
	}
	var names []string
	for i < end {
		i = s.attributes(i, end)
		if i >= end || !s.all[i].isWord() { // a pointer, or nothing of ours
			i = s.declaratorEnd(i, end) + 1
			continue
		}
		name := s.all[i].text
		for i++; s.is(i, "["); {
			i = skip(s.all, i)
		}
		i = s.attributes(i, end)
		switch {
		case i >= end || s.is(i, ","):
			names = append(names, name)
		case !s.is(i, "=") && !s.is(i, "{") && !s.is(i, "("):
			return nil // not a declaration after all
		}
		i = s.declaratorEnd(i, end) + 1
	}
	return names
}

// typeAt reads the type that begins at a token: what is behind it, and whether it may hold floating
// numbers; false if no type begins there.
func (s *statements) typeAt(i, end int) (behind int, floats bool) {
	if s.is(i, "typename") {
		i++
	}
	if s.is(i, "::") {
		i++
	}
	for i < end && s.all[i].isWord() {
		floats = floats || s.floating[s.all[i].text]
		i++
		if s.is(i, "<") {
			close := skipAngles(s.all, i)
			for _, t := range s.all[i:min(close, end)] {
				floats = floats || s.floating[t.text]
			}
			i = close
		}
		if !s.is(i, "::") {
			return i, floats && i < end
		}
		if i++; s.is(i, "template") {
			i++
		}
	}
	return i, false
}

// attributes is what is behind those at a token.
func (s *statements) attributes(i, end int) int {
	for i < end {
		switch {
		case ignored[s.all[i].text] && s.is(i+1, "("):
			i = skip(s.all, i+1)
		case s.is(i, "[") && s.is(i+1, "["):
			i = skip(s.all, i)
		default:
			return i
		}
	}
	return i
}

// declaratorEnd is the comma behind a declarator and its initialiser, or the end.
func (s *statements) declaratorEnd(i, end int) int {
	for i < end && !s.is(i, ",") {
		switch t := s.all[i].text; {
		case t == "(" || t == "[" || t == "{":
			i = skip(s.all, i)
		case t == "<" && s.all[i-1].isWord():
			if behind := skipAngles(s.all, i); behind < end && (s.is(behind, "(") || s.is(behind, "{") || s.is(behind, "::")) {
				i = behind // a template's arguments
				continue
			}
			i++
		default:
			i++
		}
	}
	return min(i, end)
}
