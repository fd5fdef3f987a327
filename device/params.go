package device

import (
	"regexp"
	"strings"
)

// scalar is a type that a parameter can be checked against.
type scalar struct {
	name     string // one spelling for all its names
	kind     ParamKind
	size     int
	unsigned bool
}

var (
	paramName  = regexp.MustCompile(`([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$`)
	qualifiers = regexp.MustCompile(`\b(const|volatile|__restrict__|__restrict|__grid_constant__)\b`)
	spaces     = regexp.MustCompile(`\s+`)
)

// namedTypes are the scalars that are not spelled with int, long and so on. Except
// for short, those of 16 bits can only be pointed to: Go has no such numbers.
var namedTypes = map[string]scalar{
	"float": {"float", Float, 4, false}, "double": {"double", Float, 8, false}, "bool": {"bool", Int, 1, true},
	"int8_t": {"char", Int, 1, false}, "uint8_t": {"unsigned char", Int, 1, true},
	"int16_t": {"short", Int, 2, false}, "uint16_t": {"unsigned short", Int, 2, true},
	"int32_t": {"int", Int, 4, false}, "uint32_t": {"unsigned int", Int, 4, true},
	"int64_t": {"long long", Int, 8, false}, "uint64_t": {"unsigned long long", Int, 8, true},
	"ptrdiff_t": {"long long", Int, 8, false}, "size_t": {"unsigned long long", Int, 8, true},
	"half": {"half", Other, 2, false}, "__half": {"half", Other, 2, false},
	"__nv_bfloat16": {"__nv_bfloat16", Other, 2, false}, "nv_bfloat16": {"__nv_bfloat16", Other, 2, false},
}

// scalarType reads a type without qualifiers: float, unsigned, long long int.
func scalarType(text string) (scalar, bool) {
	if s, ok := namedTypes[strings.TrimPrefix(text, "std::")]; ok {
		return s, true
	}
	words := strings.Fields(text)
	s := scalar{name: "int", kind: Int, size: 4}
	for _, w := range words {
		switch w {
		case "int", "signed":
		case "unsigned":
			s.unsigned = true
		case "long": // 8 bytes wherever CUDA runs, except on Windows
			s.name, s.size = "long long", 8
		case "short":
			s.name, s.size = "short", 2
		case "char":
			s.name, s.size = "char", 1
		default:
			return scalar{}, false
		}
	}
	if s.unsigned {
		s.name = "unsigned " + s.name
	}
	return s, len(words) > 0
}

// splitParams splits a parameter list at its outermost commas.
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

// parseParam reads one parameter: const float *__restrict__ x.
func parseParam(text string) Param {
	text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	p := Param{Type: text}
	bare := unqualified(text)
	if _, unnamed := scalarType(bare); !unnamed {
		if m := paramName.FindStringSubmatchIndex(text); m != nil && !qualifiers.MatchString(text[m[2]:m[3]]) {
			p.Name = text[m[2]:m[3]]
			dims := strings.Count(text[m[4]:m[5]], "[")
			p.Type = strings.TrimSpace(text[:m[2]]) + strings.Repeat("[]", dims)
			bare = unqualified(p.Type)
		}
	}
	if star := strings.IndexAny(bare, "*["); star >= 0 {
		p.Kind, p.Size = Pointer, 8
		if elem, ok := scalarType(strings.TrimSpace(bare[:star])); ok && strings.Count(bare, "*")+strings.Count(bare, "[") == 1 {
			p.Elem = elem.name
		}
		return p
	}
	if bare == "CUtensorMap" {
		p.Kind, p.Size = Map, 128
		return p
	}
	if s, ok := scalarType(bare); ok {
		p.Kind, p.Size, p.Unsigned = s.kind, s.size, s.unsigned
		if s.kind == Other {
			p.Elem = s.name
		}
	}
	return p
}

// ParseParams reads a parameter list, without its parentheses.
func ParseParams(list string) []Param {
	var params []Param
	for _, p := range splitParams(list) {
		params = append(params, parseParam(p))
	}
	return params
}

// unqualified removes const and the like from a type.
func unqualified(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(qualifiers.ReplaceAllString(text, " "), " "))
}
