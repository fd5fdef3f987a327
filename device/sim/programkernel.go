package sim

import (
	"fmt"
	"regexp"
	"strings"

	"flashlab/device"
)

var attributeCall = regexp.MustCompile(`^(?:__launch_bounds__|__cluster_dims__|__attribute__|__maxnreg__|__align__|alignas|decltype)\s*\(`)

func skipAngle(code string, at int) int {
	for depth := 0; at < len(code); at++ {
		switch code[at] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return at + 1
			}
		case '(', '[', '{':
			end := device.Closing(code, at)
			if end < 0 {
				return -1
			}
			at = end
		case ';', '}':
			return -1
		}
	}
	return -1
}

// kernelStart is what the body of a kernel begins with, if the word stands before a definition.
func kernelStart(code string, from, word int) ([]edit, bool) {
	begin := 1 + strings.LastIndexAny(code[:from], ";}")
	bounds, cluster := attributeText(code[begin:from], "__launch_bounds__"), attributeText(code[begin:from], "__cluster_dims__")
	at := word
	for at < len(code) {
		switch c := code[at]; {
		case wordByte.MatchString(code[at:at+1]) && !wordByte.MatchString(code[at-1:at]):
			if m := attributeCall.FindString(code[at:]); m != "" {
				end := device.Closing(code, at+len(m)-1)
				if end < 0 {
					return nil, false
				}
				text := code[at+len(m) : end]
				if strings.HasPrefix(m, "__launch_bounds__") {
					bounds = text
				}
				if strings.HasPrefix(m, "__cluster_dims__") {
					cluster = text
				}
				at = end
			}
		case c == '<':
			end := skipAngle(code, at)
			if end < 0 {
				return nil, false
			}
			at = end - 1
		case c == '(':
			return bodyStart(code, at, bounds, cluster)
		case c == ';' || c == '{' || c == '}':
			return nil, false
		}
		at++
	}
	return nil, false
}

func attributeText(code, name string) string {
	at := strings.Index(code, name)
	if at < 0 {
		return ""
	}
	open := strings.IndexByte(code[at:], '(')
	if open < 0 {
		return ""
	}
	end := device.Closing(code, at+open)
	if end < 0 {
		return ""
	}
	return code[at+open+1 : end]
}

func bodyStart(code string, open int, bounds, cluster string) ([]edit, bool) {
	shut := device.Closing(code, open)
	if shut < 0 {
		return nil, false
	}
	body := shut + 1
	for body < len(code) && code[body] != '{' && code[body] != ';' {
		body++
	}
	if body == len(code) || code[body] == ';' {
		return nil, false
	}
	var edits []edit
	var types, names []string
	for i, p := range parameters(code, open+1, shut) {
		name, pack := p.name, ""
		if p.pack {
			pack = "..."
		}
		if name == "" {
			name = fmt.Sprintf("simt_unnamed_%d", i)
			edits = append(edits, edit{p.end, p.end, " " + name})
		}
		types, names = append(types, "decltype("+name+")"+pack), append(names, ", "+name+pack)
	}
	called := "::simt::Called<void(" + strings.Join(types, ", ") + ")>"
	text := fmt.Sprintf(" static constexpr unsigned simt_cluster[3] = {%s}, simt_bounds[2] = {%s};", numbers(cluster, 3), numbers(bounds, 2)) +
		fmt.Sprintf(" static const simt_kernel_info simt_kernel __attribute__((used)) = {&%[1]s::call, (int)(sizeof(%[1]s::sizes) / 2 - 1), %[1]s::sizes, %[1]s::kinds, simt_cluster, simt_bounds};", called) +
		" if (__builtin_expect(simt_on_host(), 0)) { ::simt::start(&simt_kernel" + strings.Join(names, "") + "); return; }"
	return append(edits, edit{body + 1, body + 1, text}), true
}

// numbers are the first of an attribute's arguments, as unsigned ones.
func numbers(text string, most int) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	var all []string
	for _, p := range split(text, 0, len(text)) {
		if len(all) < most {
			all = append(all, "(unsigned)("+text[p.from:p.to]+")")
		}
	}
	return strings.Join(all, ", ")
}

// split cuts code at its commas, but for those in brackets.
func split(code string, from, to int) []span {
	var parts []span
	depth, start := 0, from
	for i := from; i < to; i++ {
		switch code[i] {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, span{start, i})
				start = i + 1
			}
		}
	}
	if strings.TrimSpace(code[start:to]) != "" || len(parts) > 0 {
		parts = append(parts, span{start, to})
	}
	return parts
}

type parameter struct {
	name string
	pack bool
	end  int // behind it, but before what it is by default
}

var (
	pointerName   = regexp.MustCompile(`\(\s*(?:\*|&)\s*(?:const\s+)?(\w+)\s*\)`)
	parameterName = regexp.MustCompile(`(?s)^(.*[\s*&.>])([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$`)
	typeWord      = regexp.MustCompile(`^(?:int|unsigned|signed|long|short|char|float|double|bool|const|volatile|__restrict__|__restrict|restrict|void|auto)$`)
	qualifier     = regexp.MustCompile(`^(?:const|volatile|struct|class|enum|typename|__restrict__|__grid_constant__|::|\s)*$`)
)

func parameters(code string, from, to int) []parameter {
	var all []parameter
	for _, s := range split(code, from, to) {
		text := code[s.from:s.to]
		if strings.TrimSpace(text) == "void" {
			continue
		}
		if i := strings.IndexByte(text, '='); i >= 0 {
			text = text[:i]
		}
		p := parameter{end: s.from + len(strings.TrimRight(text, " \n\t")), pack: strings.Contains(text, "...")}
		if m := pointerName.FindStringSubmatch(text); m != nil {
			p.name = m[1]
		} else if m := parameterName.FindStringSubmatch(text); m != nil && !typeWord.MatchString(m[2]) && !qualifier.MatchString(m[1]) && !strings.HasSuffix(strings.TrimSpace(m[1]), "::") {
			p.name = m[2]
		}
		all = append(all, p)
	}
	return all
}
