package sim

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
)

// A header that a file includes may break on a macro of that file's, or of Source.Defines. None of ours does
// (device.Guarded); the C++ library's do. What the compiler then says is about the header's insides, so that
// the macro is named instead.

var (
	expandedThere = regexp.MustCompile(`(?m)^([^:\n]+):\d+:\d+: note: in expansion of macro ['‘](\w+)['’]`)
	definedName   = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)`)
)

// inTheWay are the file's macros that stand in the way of the headers which a compiler's errors are about.
func (s moduleSource) inTheWay(output string) (found []device.Diagnostic) {
	expanded := map[string]map[string]bool{} // by header, if the compiler told
	for _, m := range expandedThere.FindAllStringSubmatch(output, -1) {
		if expanded[m[1]] == nil {
			expanded[m[1]] = map[string]bool{}
		}
		expanded[m[1]][m[2]] = true
	}
	var headers []string
	for line := range strings.Lines(output) {
		if m := diagnosticLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && strings.HasSuffix(m[4], "error") {
			headers = append(headers, m[1])
		}
	}
	headers = append(headers, slices.Sorted(maps.Keys(expanded))...)
	macros := s.macros()
	for _, header := range headers {
		if s.owns(header) || filepath.Base(header) == filepath.Base(definesName) || slices.Contains(written, filepath.Base(header)) {
			continue
		}
		text, _ := os.ReadFile(header)
		names := map[string]bool{}
		for _, name := range identifiers.FindAllString(device.BlankComments(string(text)), -1) {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(macros)) {
			if at := macros[name]; names[name] && (expanded[header] == nil || expanded[header][name]) {
				found = append(found, device.Diagnostic{File: at.file, Line: at.line, Severity: "error",
					Text: fmt.Sprintf("the macro %s stands in the way of <%s>, which has that name: take another one, or define it behind the #include", name, filepath.Base(header))})
			}
		}
	}
	return once(found)
}

var identifiers = regexp.MustCompile(`\b[A-Za-z_]\w*`)

// written are the files of a build that no header is.
var written = []string{"marked.cpp", "module.cpp", "<command-line>"}

// macros are what a source defines, and where.
func (s moduleSource) macros() map[string]row {
	found := map[string]row{}
	for name := range s.defines {
		found[name] = row{file: s.name}
	}
	texts := map[string]string{s.name: s.text}
	maps.Copy(texts, s.files)
	for file, text := range texts {
		code := device.BlankComments(text)
		for _, m := range definedName.FindAllStringSubmatchIndex(code, -1) {
			name := code[m[2]:m[3]]
			if known, ok := found[name]; !ok || known.line == 0 {
				found[name] = row{file: path.Base(file), line: 1 + strings.Count(code[:m[2]], "\n")}
			}
		}
	}
	return found
}
