package hostside

import "slices"

// floating are CUDA's types of floating numbers, and of several of them.
var floating = []string{"float", "double", "half", "half2", "__half", "__half2", "nv_bfloat16", "nv_bfloat162", "__nv_bfloat16", "__nv_bfloat162",
	"float1", "float2", "float3", "float4", "double1", "double2", "double3", "double4", "cuComplex", "cuFloatComplex", "cuDoubleComplex"}

// floatingTypes are the names of types that may hold floating numbers: CUDA's, a template's
// parameters, and whatever is defined by one of these.
func (p *parser) floatingTypes() map[string]bool {
	all := map[string]bool{}
	for _, name := range floating {
		all[name] = true
	}
	for i := range p.all {
		if (p.is(i, "typename") || p.is(i, "class")) && i > 0 && (p.is(i-1, "<") || p.is(i-1, ",")) && i+1 < len(p.all) {
			all[p.all[i+1].text] = true
		}
	}
	for before := 0; before < len(all); {
		before = len(all)
		for i := range p.all {
			if name, from, to := p.definedType(i); name != "" && !all[name] {
				if slices.ContainsFunc(p.all[from:to], func(t token) bool { return all[t.text] }) {
					all[name] = true
				}
			}
		}
	}
	return all
}

// definedType is the name of a type whose definition begins at a token, and the tokens that define it.
func (p *parser) definedType(i int) (name string, from, to int) {
	end := i
	for end < len(p.all) && !p.is(end, ";") && !p.is(end, "{") {
		end++
	}
	switch p.all[i].text {
	case "struct", "class", "union":
		if p.is(end, "{") && !p.is(max(i-1, 0), "<") && !p.is(max(i-1, 0), ",") {
			for _, t := range p.all[i+1 : end] {
				if t.text == ":" {
					break
				}
				if t.isWord() && t.text != "final" {
					name = t.text // behind its attributes
				}
			}
			return name, i + 1, skip(p.all, end)
		}
	case "using":
		if p.is(i+2, "=") {
			return p.all[i+1].text, i + 3, end
		}
	case "typedef":
		if p.is(end, "{") {
			from := end
			for end = skip(p.all, end); end < len(p.all) && !p.is(end, ";"); end++ {
				if p.all[end].isWord() {
					name = p.all[end].text
				}
			}
			return name, from, end
		}
		for at := i + 1; at < end && !p.is(at, "["); at++ {
			if p.all[at].isWord() {
				name = p.all[at].text
			}
		}
		return name, i + 1, end
	}
	return "", 0, 0
}
