package hostside

import "strings"

// declaration is one of a namespace or a class.
type declaration struct {
	first, last int // its tokens
	names       []string
	scope       []string // the namespaces around it
	template    [2]int   // tokens of its last template<…>; 0, 0 if it is none
	params      [2]int   // tokens between a function's parentheses
	body        [2]int   // tokens from { to } of a definition
	initialiser int      // the token of a constructor's colon; 0 if it has none

	function, class, using, c bool
	marks                     map[string]bool // CUDA's words, constexpr, and the like
	kept                      bool
}

// marked are the words that decide whose a declaration is.
var marked = map[string]bool{"__device__": true, "__global__": true, "__constant__": true, "__managed__": true, "thread_local": true, // __shared__
	"__host__": true, "constexpr": true, "consteval": true, "virtual": true, "default": true, "delete": true, "static_assert": true}

// device tells whether the declaration says that a GPU has it.
func (d *declaration) device() bool {
	for _, mark := range []string{"__device__", "__global__", "__constant__", "__managed__", "thread_local"} {
		if d.marks[mark] {
			return true
		}
	}
	return false
}

// host tells whether a function is the host's alone.
func (d *declaration) host() bool {
	return d.function && !d.device() && !d.marks["constexpr"] && !d.marks["consteval"]
}

// constant are words with which a variable, or what is none, may be a kernel's too.
var constant = map[string]bool{"const": true, "constexpr": true, "typedef": true, "template": true, "namespace": true, "using": true, "friend": true,
	"struct": true, "class": true, "union": true, "enum": true, "__declspec": true}

// hostVariable tells whether a declaration is of variables that no kernel can reach, whatever
// its own are called.
func (p *parser) hostVariable(d *declaration) bool {
	if d.function || d.class || d.using || d.device() || len(d.names) == 0 || d.last-d.first < 2 {
		return false
	}
	for _, t := range p.all[d.first : d.last+1] {
		if constant[t.text] || marked[t.text] {
			return false
		}
		if t.text == "=" || t.text == "{" {
			break
		}
	}
	return true
}

// name is a function's, without that of its class; "" if it was not understood.
func (d *declaration) name() string {
	if len(d.names) == 0 {
		return ""
	}
	return d.names[len(d.names)-1]
}

// parser goes through the tokens of a file.
type parser struct {
	all   []token
	found []*declaration
	own   func(at int) bool
}

// scope reads the declarations of a namespace, up to its } or the end.
func (p *parser) scope(i int, names []string, c bool) int {
	for i < len(p.all) {
		switch t := p.all[i].text; {
		case t == ";":
			i++
		case t == "}":
			return i + 1
		case t == "extern" && p.is(i+2, "{") && p.all[i+1].text[0] == '"':
			i = p.scope(i+3, names, true)
		case t == "namespace" || t == "inline" && p.is(i+1, "namespace"):
			open := i + 1
			inner := names
			for open < len(p.all) && !strings.Contains("{;=", p.all[open].text) {
				if w := p.all[open]; w.isWord() && w.text != "namespace" {
					inner = append(inner[:len(inner):len(inner)], w.text)
				}
				open++
			}
			if p.is(open, "{") {
				i = p.scope(open+1, inner, c)
				continue
			}
			d := &declaration{first: i, names: inner[len(names):], scope: names, marks: map[string]bool{}}
			for open < len(p.all) && p.all[open].text != ";" {
				open++
			}
			d.last = min(open, len(p.all)-1)
			p.found = append(p.found, d)
			i = open + 1
		default:
			d := p.declaration(i)
			d.scope = names
			d.c = d.c || c
			p.found = append(p.found, d)
			i = d.last + 1
		}
	}
	return i
}

func (p *parser) is(i int, text string) bool { return i < len(p.all) && p.all[i].text == text }

// ignored are words whose parentheses are no parameters.
var ignored = map[string]bool{"__attribute__": true, "__attribute": true, "alignas": true, "decltype": true, "__declspec": true,
	"noexcept": true, "throw": true, "__launch_bounds__": true, "__cluster_dims__": true, "explicit": true, "requires": true, "__align__": true, "static_assert": true}

// declaration reads one, up to its semicolon or the end of its body.
func (p *parser) declaration(i int) *declaration {
	d := &declaration{first: i, last: len(p.all) - 1, marks: map[string]bool{}}
	assigned, colon := false, false
	for i < len(p.all) {
		t := p.all[i]
		switch {
		case marked[t.text] && t.text != "static_assert":
			d.marks[t.text] = true
		case t.text == "template" && p.is(i+1, "<"):
			end := skipAngles(p.all, i+1)
			if end > i+3 {
				d.template = [2]int{i + 2, end - 1}
			}
			i = end
			continue
		case ignored[t.text] && p.is(i+1, "("):
			d.marks[t.text] = d.marks[t.text] || marked[t.text]
			i = skip(p.all, i+1)
			continue
		case t.text == "extern" && i+1 < len(p.all) && p.all[i+1].text[0] == '"':
			d.c = true
		case t.text == "using" || t.text == "typedef":
			d.using = true
		case t.text == "class" || t.text == "struct" || t.text == "union" || t.text == "enum":
			d.class = d.class || !d.function && !assigned
		case t.text == "operator" && !assigned && !d.function:
			d.names = append(d.names, "operator")
			for i++; i < len(p.all) && (p.all[i].text != "(" || p.is(i+1, ")") && p.is(i+2, "(")); i++ {
				if p.is(i, "(") {
					i++
				}
			}
			d.function = true
			d.params = [2]int{i + 1, skip(p.all, i) - 1}
			i = skip(p.all, i)
			continue
		case t.text == "(" && !d.function && !assigned && !d.using && i > d.first:
			d.function, d.params = true, [2]int{i + 1, skip(p.all, i) - 1}
			if last := p.all[i-1]; last.isWord() {
				d.names = append(d.names, last.text)
			}
			i = skip(p.all, i)
			continue
		case t.text == "=":
			assigned = true
			if !d.function && i > 0 && p.all[i-1].isWord() {
				d.names = append(d.names, p.all[i-1].text)
			}
		case t.text == ":" && d.function:
			colon = true
			d.initialiser = i
		case t.text == "(" || t.text == "[":
			if t.text == "[" && i > 0 && p.all[i-1].isWord() {
				d.names = append(d.names, p.all[i-1].text)
			}
			i = p.markedIn(d, i)
			continue
		case t.text == "{":
			end := skip(p.all, i)
			last := p.all[max(i-1, 0)]
			switch {
			case d.function && !assigned && !(colon && (last.isWord() || last.text == ">")):
				d.body, d.last = [2]int{i, end - 1}, end-1
				return d
			case d.class && !d.function && !assigned && d.body == [2]int{}:
				d.body = [2]int{i, end - 1}
				p.nameClass(d, i)
			default:
				if last.isWord() && !d.function && !assigned {
					d.names = append(d.names, last.text)
				}
				p.markedIn(d, i)
			}
			i = end
			continue
		case t.text == ",":
			if last := p.all[max(i-1, 0)]; last.isWord() && !d.function {
				d.names = append(d.names, last.text)
			}
		case t.text == ";":
			if last := p.all[max(i-1, 0)]; last.isWord() && i > d.first && !d.function {
				d.names = append(d.names, last.text)
			}
			d.last = i
			return d
		case t.text == "}":
			d.last = max(i-1, d.first)
			return d
		}
		i++
	}
	return d
}

// markedIn notes CUDA's words within brackets, of a lambda say, and returns what is behind.
func (p *parser) markedIn(d *declaration, i int) int {
	end := skip(p.all, i)
	for _, t := range p.all[i:end] {
		if d.using && t.isWord() || t.text == "__device__" && !d.function {
			d.names = append(d.names, t.text)
			d.marks[t.text] = d.marks[t.text] || t.text == "__device__"
		}
	}
	return end
}

// noTag are the words of a class-specifier that name nothing.
var noTag = map[string]bool{"struct": true, "class": true, "union": true, "final": true, "static": true, "extern": true,
	"typedef": true, "const": true, "volatile": true, "inline": true, "mutable": true, "friend": true}

// nameClass names what a class-specifier declares: its tag, and an enum's values.
func (p *parser) nameClass(d *declaration, open int) {
	enum := false
	for i := d.first; i < open; i++ {
		switch t := p.all[i]; {
		case t.text == "template" && p.is(i+1, "<"):
			i = skipAngles(p.all, i+1) - 1
		case ignored[t.text] && p.is(i+1, "("):
			i = skip(p.all, i+1) - 1
		case t.text == ":":
			i = open
		case t.text == "enum":
			enum = true
		case t.isWord() && !noTag[t.text] && !marked[t.text]:
			d.names = append(d.names, t.text)
		}
	}
	if !enum {
		return
	}
	for _, t := range p.all[open : d.body[1]+1] {
		if t.isWord() {
			d.names = append(d.names, t.text)
		}
	}
}
