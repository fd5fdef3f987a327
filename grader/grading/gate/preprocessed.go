package gate

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
	"flashlab/device/sim"
)

var (
	// What CUDA's own words are to the host's compiler.
	qualifier = regexp.MustCompile(`__attribute__\s*\(\(\s*(always_inline|noinline|aligned\s*\([^;{}"]*?\))\s*\)\)`)
	// What the C library's macros are made of (NAN, isless …), besides plainBuiltin.
	libraryBuiltin = regexp.MustCompile(`^__builtin_(huge_val[fl]?|flt_rounds|fpclassify|isnormal|isgreater|isgreaterequal|isless|islessequal|islessgreater|isunordered|va_\w+)$`)
)

// VetPreprocessed looks at a kernel as the compiler's preprocessor left it, for what
// CheckKernel refuses: however the text was written, this is what it comes to.
func (r Rules) VetPreprocessed(p sim.Preprocessed) error {
	var refused []Refusal
	r.PTX = r.PTX && p.Translated // what is not translated would reach the host's assembler
	at := 0
	refuse := func(_ int, what, do string) {
		refused = append(refused, Refusal{p.File, at, what, do})
	}
	for _, i := range p.Includes {
		if at = i.Number; !allowedHeaders[headerOf(i.Text, p.Headers)] {
			refuse(0, "#include of "+i.Text, "a kernel may include CUDA's headers and those of C and C++ that hold numbers only")
		}
	}
	for _, s := range p.Strange {
		at = s.Number
		refuse(0, "#line", "remove it: messages name your own lines")
	}
	for _, l := range p.Lines {
		at = l.Number
		code := device.BlankComments(l.Text)
		if hash := strings.TrimSpace(code); strings.HasPrefix(hash, "#") {
			checkDirective(at, strings.TrimSpace(hash[1:]), refuse)
			continue
		}
		r.checkExpanded(code, p.Words, refuse)
	}
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
	code = qualifier.ReplaceAllString(code, " ")
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
