package gate

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/device/preprocess"
)

var (
	// What CUDA's own words are to a compiler, g++ or nvcc: some have a number in parentheses.
	qualifier = regexp.MustCompile(`__attribute__\s*\(\(\s*(always_inline|noinline|device|global|shared|constant|host|managed|grid_constant|aligned|launch_bounds|cluster_dims)\s*`)
	// What the C library's macros are made of (NAN, isless …), besides plainBuiltin.
	libraryBuiltin = regexp.MustCompile(`^__builtin_(huge_val[fl]?|flt_rounds|fpclassify|isnormal|isgreater|isgreaterequal|isless|islessequal|islessgreater|isunordered|va_\w+)$`)
)

// VetPreprocessed looks at a kernel as the compiler's preprocessor left it, for what
// CheckKernel refuses: however the text was written, this is what it comes to.
func (r Rules) VetPreprocessed(p preprocess.Text) error {
	var refused []Refusal
	written := r                  // what the task allows in its files
	r.PTX = r.PTX && p.Translated // what is not translated would reach the host's assembler
	var at preprocess.Line
	refuse := func(_ int, what, do string) {
		refused = append(refused, Refusal{cmp.Or(at.File, p.File), at.Number, what, do})
	}
	for _, at = range p.Includes {
		if !slices.Contains(r.Headers, at.Text) && !written.allows(headerOf(at.Text, p.Headers)) {
			refuse(0, "#include of "+at.Text, "a kernel may include CUDA's headers and those of C and C++ that hold numbers only")
		}
	}
	for _, at = range p.Strange {
		refuse(0, "#line", "remove it: messages name your own lines")
	}
	var whole strings.Builder // without directives, and what headers have in between
	var lines []preprocess.Line
	for _, at = range p.Lines {
		code := device.BlankComments(at.Text)
		if hash := strings.TrimSpace(code); strings.HasPrefix(hash, "#") {
			r.checkDirective(at.Number, strings.TrimSpace(hash[1:]), refuse)
			continue
		}
		r.checkExpanded(code, p.Words, refuse)
		whole.WriteString(code + "\n")
		lines = append(lines, at)
	}
	checkBroken(whole.String(), func(line int, what, do string) {
		at = lines[line-1]
		refuse(0, what, do)
	})
	if len(refused) > 0 {
		return &Error{refused}
	}
	return nil
}

// checkExpanded is checkWords for a line whose macros are expanded, those of the
// simulator's headers among them.
func (r Rules) checkExpanded(code string, ours []string, refuse func(int, string, string)) {
	if m := rawString.FindString(code); m != "" {
		refuse(0, "holds a raw string", "a kernel needs none")
	}
	code = withoutQualifiers(code)
	code = reserved.ReplaceAllStringFunc(code, func(name string) string {
		if slices.Contains(ours, name) {
			return "ours"
		}
		return name
	})
	code = builtin.ReplaceAllStringFunc(code, func(name string) string {
		if libraryBuiltin.MatchString(name) {
			return "library"
		}
		return name
	})
	r.checkWords(0, code, refuse)
}

// withoutQualifiers takes CUDA's own words out, each with the parentheses that belong to it.
func withoutQualifiers(code string) string {
	for from := 0; ; {
		at := qualifier.FindStringIndex(code[from:])
		if at == nil {
			return code
		}
		begin, end := from+at[0], from+at[1]
		from = end
		if n := parenthesised(code[end:]); n >= 0 {
			end += n
		}
		rest := strings.TrimLeft(code[end:], " \t")
		if !strings.HasPrefix(rest, "))") {
			continue // there is more in it: checkWords sees all of it
		}
		code = code[:begin] + " " + rest[2:]
		from = begin
	}
}

// parenthesised is how long the parentheses are that a text begins with; -1 if it begins with none, or
// if they hold what no number needs.
func parenthesised(text string) int {
	if !strings.HasPrefix(text, "(") {
		return -1
	}
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case ';', '{', '}', '"':
			return -1
		}
	}
	return -1
}

// headerOf is the name by which an allowed header's path was asked for.
func headerOf(path, headers string) string {
	if own, err := filepath.Rel(headers, path); err == nil && !strings.HasPrefix(own, "..") {
		return filepath.ToSlash(own)
	}
	if m := systemHeader.FindStringSubmatch(filepath.ToSlash(path)); m != nil {
		return m[1]
	}
	return ""
}

// systemHeader is a path in a folder of a compiler's or the C library's headers.
var systemHeader = regexp.MustCompile(`^/.*/include/(?:c\+\+/(?:[\w.-]+/)?|[\w-]+-linux-gnu/)?([\w./]+)$`)
