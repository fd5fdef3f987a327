// Package hostside takes from a preprocessed .cu file what only its host side uses, so
// that a compiler for kernels need not know it: functions without __device__ or
// __global__, and types and variables that no kernel names.
package hostside

import (
	"regexp"
	"slices"
	"strings"
)

// Kernel is a __global__ function that a file defines.
type Kernel struct {
	Name     string // with its namespaces: layers::softmax
	Template bool   // it needs arguments: softmax<float>
	Takes    string // a template's parameters: typename T, int N
	Params   string // as written, macros expanded
	C        bool   // it has C linkage, so it is its name's only one
	At       int    // where in the text
	Range    [2]int // from its first token to behind its last
	// Bounds and Cluster are what __launch_bounds__ and __cluster_dims__ say, macros expanded.
	Bounds, Cluster string
}

// Result is a file without its host side.
type Result struct {
	Text      string
	Kernels   []Kernel
	Host      map[string]bool // functions that were left out
	Variables map[string]bool // and variables of the host
	Any       bool            // whether anything was left out
	// Constants are the names of __constant__ variables, Unset those that nothing in the file gives a value. Device and
	// Managed are those of __device__ and __managed__ variables.
	Constants, Unset, Device, Managed []string

	parser *parser
}

// Words are CUDA's own that no C++ compiler has: once they have been read, they go.
var Words = []string{"__global__", "__device__", "__host__", "__constant__", "__managed__", "__grid_constant__"}

// Strip reads preprocessed text. code is the same with strings and directives blanked;
// own tells which places are the file's and not a header's. What templates are asked for by, in asked, is kept.
func Strip(text, code string, own func(at int) bool, asked ...string) Result {
	p := &parser{all: tokens(code, own), own: own}
	for i := 0; i < len(p.all); {
		i = p.scope(i, nil, false) // a } too many ends it early
	}
	p.keep(code, asked)
	out := []byte(text)
	r := Result{Host: map[string]bool{}, Variables: map[string]bool{}, parser: p}
	var set []string
	for _, d := range p.found {
		switch {
		case !d.kept:
			blank(out, p.all[d.first].at, p.all[d.last].end(), own)
			if d.function {
				r.Host[d.name()] = true
				r.Any = true
			}
			if p.hostVariable(d) {
				r.Any = true
				for _, name := range d.names {
					r.Variables[name] = true
				}
			}
			continue
		case d.class && d.body != [2]int{}:
			r.Any = p.members(d.body[0]+1, d.body[1], out, own, r.Host) || r.Any
		}
		switch {
		case d.marks["__constant__"]:
			r.Constants = append(r.Constants, d.names...)
			if p.initialised(d) {
				set = append(set, d.names...)
			}
		case d.marks["__managed__"]:
			r.Managed = append(r.Managed, d.names...)
		case d.marks["__device__"] && !d.function:
			r.Device = append(r.Device, d.names...)
		}
		if k, ok := p.kernel(d, text); ok {
			r.Kernels = append(r.Kernels, k)
		}
	}
	r.Unset = slices.DeleteFunc(slices.Clone(r.Constants), func(name string) bool { return slices.Contains(set, name) })
	r.Text = string(out)
	return r
}

// initialised tells whether a variable's declaration may give it a value.
func (p *parser) initialised(d *declaration) bool {
	for i := d.first; i <= d.last; i++ {
		if ignored[p.all[i].text] && p.is(i+1, "(") {
			i = skip(p.all, i+1) - 1
		} else if t := p.all[i].text; t == "=" || t == "{" || t == "(" {
			return true
		}
	}
	return false
}

func (p *parser) kernel(d *declaration, text string) (Kernel, bool) {
	if !d.marks["__global__"] || !d.function || d.body == [2]int{} || d.name() == "" {
		return Kernel{}, false
	}
	k := Kernel{Name: p.fullName(d), Template: d.template != [2]int{}, C: d.c, At: p.all[d.params[0]-1].at,
		Range: [2]int{p.all[d.first].at, p.all[d.last].end()}}
	k.Bounds, k.Cluster = p.attribute(d, "__launch_bounds__", text), p.attribute(d, "__cluster_dims__", text)
	if k.Template {
		k.Takes = text[p.all[d.template[0]].at:p.all[d.template[1]-1].end()]
	}
	for i := d.params[0]; i < d.params[1]; i++ {
		k.Params += text[p.all[i].at:p.all[i].end()] + " "
	}
	return k, true
}

// attribute is what is in the parentheses of one of CUDA's, before a function's name.
func (p *parser) attribute(d *declaration, name, text string) string {
	for i := d.first; i < d.params[0]; i++ {
		if !p.is(i, name) || !p.is(i+1, "(") {
			continue
		}
		from := p.all[i+1].at
		depth := 0
		for at := from; at < p.all[d.params[0]].at; at++ {
			switch text[at] {
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return text[from+1 : at]
				}
			}
		}
	}
	return ""
}

func (p *parser) fullName(d *declaration) string {
	return strings.Join(append(slices.Clone(d.scope), d.name()), "::")
}

var words = regexp.MustCompile(`[A-Za-z_]\w*`)

// keep marks what kernels have: what is a GPU's by its own words, what they are asked for by, and what these name.
func (p *parser) keep(code string, asked []string) {
	byName := map[string][]*declaration{}
	prototypes := map[string]bool{} // a definition may leave out what its declaration said
	for _, d := range p.found {
		for _, name := range d.names {
			byName[name] = append(byName[name], d)
			if d.function && d.device() && d.body == [2]int{} {
				prototypes[name] = true
			}
		}
	}
	var queue []*declaration
	keep := func(d *declaration) {
		if !d.kept {
			d.kept = true
			queue = append(queue, d)
		}
	}
	for _, d := range p.found {
		if d.device() || p.usingNamespace(d, code) || d.host() && d.body != [2]int{} && prototypes[d.name()] {
			keep(d)
		}
	}
	for _, name := range words.FindAllString(strings.Join(asked, " "), -1) {
		for _, d := range byName[name] {
			if !d.host() && !p.hostVariable(d) {
				keep(d)
			}
		}
	}
	for len(queue) > 0 {
		d := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, t := range p.all[d.first : d.last+1] {
			for _, other := range byName[t.text] {
				if !other.host() && !p.hostVariable(other) {
					keep(other)
				}
			}
		}
	}
	for _, d := range p.found {
		d.kept = d.kept || d.marks["static_assert"] && p.namesOnlyKept(d, byName)
	}
}

// namesOnlyKept tells whether an assertion is about nothing that goes.
func (p *parser) namesOnlyKept(d *declaration, byName map[string][]*declaration) bool {
	for _, t := range p.all[d.first : d.last+1] {
		for _, other := range byName[t.text] {
			if other != d && !other.kept {
				return false
			}
		}
	}
	return true
}

// usingNamespace tells whether a declaration is using namespace of one that there is.
func (p *parser) usingNamespace(d *declaration, code string) bool {
	if !d.using || !p.is(d.first, "using") || !p.is(d.first+1, "namespace") {
		return false
	}
	return regexp.MustCompile(`\bnamespace\s+(?:\w+\s*::\s*)*` + regexp.QuoteMeta(p.all[d.last-1].text) + `\b\s*(?:::|\{|$|\s)`).MatchString(code)
}

// members takes the bodies of a class's host functions.
func (p *parser) members(i, end int, out []byte, own func(int) bool, host map[string]bool) bool {
	any := false
	for i < end {
		if t := p.all[i].text; t == ";" || t == "}" || t == ":" || t == "public" || t == "private" || t == "protected" {
			i++
			continue
		}
		d := p.declaration(i)
		d.last = min(d.last, end-1)
		switch {
		case d.class && !d.function && d.body != [2]int{}:
			any = p.members(d.body[0]+1, d.body[1], out, own, host) || any
		case d.host() && d.body != [2]int{} && !d.marks["virtual"]:
			from := d.body[0]
			if d.initialiser > 0 {
				from = d.initialiser
			}
			blank(out, p.all[from].at, p.all[d.last].end(), own)
			out[p.all[from].at] = ';'
			any = true
			host[d.name()] = true
		}
		i = d.last + 1
	}
	return any
}

// blank overwrites a part of the text but for what headers brought in, and for the
// lines that say where it is from.
func blank(out []byte, from, to int, own func(int) bool) {
	for i := from; i < to; {
		end := i
		for end < to && out[end] != '\n' {
			end++
		}
		if line := strings.TrimLeft(string(out[i:end]), " \t"); !(strings.HasPrefix(line, "# ") && i > 0 && out[i-1] == '\n') && own(i) {
			for j := i; j < end; j++ {
				out[j] = ' '
			}
		}
		i = end + 1
	}
}
