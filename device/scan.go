package device

import (
	"fmt"
	"regexp"
	"strings"
)

// ScanKernels finds the `extern "C" __global__` functions of a .cu file, so
// that arguments can be checked before a launch, on every device alike. A
// kernel hidden in a macro is not seen: those that Go launches are written out.
func ScanKernels(text string) []Signature {
	code := blankComments(text)
	var found []Signature
	for _, at := range globalToken.FindAllStringIndex(code, -1) {
		name, nameEnd := kernelName(code, at[1])
		if name == "" {
			continue
		}
		params, ok := balanced(code[nameEnd:])
		if !ok {
			continue
		}
		sig := Signature{Name: name, Line: 1 + strings.Count(code[:at[0]], "\n")}
		for _, p := range splitParams(params) {
			sig.Params = append(sig.Params, parseParam(p))
		}
		found = append(found, sig)
	}
	return found
}

// FindKernel looks a signature up by name; the error lists what there is.
func FindKernel(file string, sigs []Signature, name string) (Signature, error) {
	var names []string
	for _, s := range sigs {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return Signature{}, fmt.Errorf("%s has no kernel %q: it has none at all that reads extern \"C\" __global__ void name(...)", file, name)
	}
	return Signature{}, fmt.Errorf("%s has no kernel %q; it has %s", file, name, strings.Join(names, ", "))
}

var (
	globalToken = regexp.MustCompile(`\b__global__\b`)
	// nameToken: an identifier directly before an opening parenthesis.
	nameToken = regexp.MustCompile(`^[\s]*([A-Za-z_]\w*)\s*\(`)
	word      = regexp.MustCompile(`^\s*([A-Za-z_]\w*)`)
)

// kernelName reads on after __global__ to the function's name, past void,
// __launch_bounds__(…) and other attributes. It returns the name and the index
// of its opening parenthesis.
func kernelName(code string, at int) (string, int) {
	for range 8 {
		if m := nameToken.FindStringSubmatchIndex(code[at:]); m != nil {
			name := code[at+m[2] : at+m[3]]
			open := at + m[1] - 1
			if !strings.HasPrefix(name, "__") {
				return name, open
			}
			inner, ok := balanced(code[open:]) // __launch_bounds__(256)
			if !ok {
				return "", 0
			}
			at = open + len(inner) + 2
			continue
		}
		m := word.FindStringIndex(code[at:])
		if m == nil {
			return "", 0
		}
		at += m[1]
	}
	return "", 0
}

// balanced returns what stands between the parenthesis that s starts with and
// its partner.
func balanced(s string) (string, bool) {
	depth := 0
	for i, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[1:i], true
			}
		}
	}
	return "", false
}

func splitParams(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range s {
		switch c {
		case '(', '<', '[', '{':
			depth++
		case ')', '>', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" && (last != "void" || len(parts) > 0) {
		parts = append(parts, s[start:])
	}
	return parts
}

var (
	paramName  = regexp.MustCompile(`([A-Za-z_]\w*)\s*(\[[^\]]*\])?\s*$`)
	qualifiers = regexp.MustCompile(`\b(const|volatile|__restrict__|__restrict|__grid_constant__)\b`)
	spaces     = regexp.MustCompile(`\s+`)
)

// typeSizes are the types that a parameter can be checked against.
var typeSizes = map[string]struct {
	kind ParamKind
	size int
}{
	"float": {Float, 4}, "double": {Float, 8},
	"bool": {Int, 1}, "char": {Int, 1}, "short": {Int, 2},
	"int": {Int, 4}, "unsigned": {Int, 4}, "unsigned int": {Int, 4}, "int32_t": {Int, 4}, "uint32_t": {Int, 4},
	"long": {Int, 8}, "unsigned long": {Int, 8}, "long long": {Int, 8}, "unsigned long long": {Int, 8},
	"int64_t": {Int, 8}, "uint64_t": {Int, 8}, "size_t": {Int, 8},
}

// sameElem gives names of one type one spelling.
var sameElem = map[string]string{
	"float": "float", "double": "double", "int": "int", "int32_t": "int",
	"unsigned": "unsigned int", "unsigned int": "unsigned int", "uint32_t": "unsigned int",
	"long long": "long long", "int64_t": "long long", "long": "long long",
	"unsigned long long": "unsigned long long", "uint64_t": "unsigned long long", "size_t": "unsigned long long", "unsigned long": "unsigned long long",
}

func parseParam(text string) Param {
	text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	p := Param{Type: text}
	bare := strings.TrimSpace(spaces.ReplaceAllString(qualifiers.ReplaceAllString(text, " "), " "))
	if _, known := typeSizes[bare]; !known { // else the parameter has no name
		if m := paramName.FindStringSubmatchIndex(text); m != nil {
			p.Name = text[m[2]:m[3]]
			p.Type = strings.TrimSpace(text[:m[2]])
			if m[4] >= 0 {
				p.Type += "[]"
			}
			bare = strings.TrimSpace(spaces.ReplaceAllString(qualifiers.ReplaceAllString(p.Type, " "), " "))
		}
	}
	if star := strings.IndexAny(bare, "*["); star >= 0 {
		p.Kind, p.Size = Pointer, 8
		p.Elem = sameElem[strings.TrimSpace(bare[:star])]
		if strings.Count(bare, "*")+strings.Count(bare, "[") > 1 {
			p.Elem = ""
		}
		return p
	}
	if t, ok := typeSizes[bare]; ok {
		p.Kind, p.Size = t.kind, t.size
	}
	return p
}

// blankComments replaces comments and the insides of strings by spaces, so
// that offsets and lines stay as they were.
func blankComments(text string) string {
	out := []byte(text)
	blank := func(from, to int) {
		for i := from; i < to && i < len(out); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			blank(i, i+end)
			i += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				end = len(rest) - 4
			}
			blank(i, i+end+4)
			i += end + 4
		case rest[0] == '"' || rest[0] == '\'':
			end := 1
			for end < len(rest) && rest[end] != rest[0] && rest[end] != '\n' {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			blank(i+1, i+end)
			i += end + 1
		default:
			i++
		}
	}
	return string(out)
}
