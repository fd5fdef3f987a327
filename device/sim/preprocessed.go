package sim

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"flashlab/device/preprocess"
)

// Preprocessed is what the compiler's own preprocessor made of a kernel's file.
type Preprocessed = preprocess.Text

// Line is one line of it.
type Line = preprocess.Line

// vet shows the file to whoever may refuse it, in both forms that may be compiled: with
// CUDA's words gone, and with them left in, for a macro can tell one from the other; and
// then without its host side. It returns the lines of each.
func (c *compiler) vet(dir string, r stripped, s moduleSource) (forms [][]Line, err error) {
	out, err := c.run(dir, append(s.headers.preprocessing(r.args, plainLink), "-USIMT_MARKS", "marked.cpp")...)
	if err != nil {
		return nil, compileError(s, out, err)
	}
	texts := []string{out, r.marked}
	if r.Any {
		texts = append(texts, r.plain(ownParts(r.Text, s), nil))
	}
	for _, text := range texts {
		lines, err := s.vetText(text)
		if err != nil {
			return nil, err
		}
		forms = append(forms, lines)
	}
	return forms, nil
}

func (s moduleSource) vetText(text string) ([]Line, error) {
	p := preprocess.Included(text, s.name, slices.Collect(maps.Keys(s.files))...)
	for _, lines := range [][]Line{p.Lines, p.Includes, p.Strange} {
		for i := range lines {
			lines[i].Number %= headerLines
		}
	}
	p.Headers, p.Words, p.Translated = headersLink, ownMacros(), s.usesPTX()
	return p.Lines, s.vet(p)
}

var (
	macroLine = regexp.MustCompile(`(?m)^#define ([A-Za-z_]\w*)(?:\([^)]*\))?((?:\\\n|[^\n])*)`)
	ownName   = regexp.MustCompile(`\b(?:simt|SIMT)_\w+`)
)

// ownMacros are the simulator's names in the macros that kernels may use.
var ownMacros = sync.OnceValue(func() (names []string) {
	_ = fs.WalkDir(sources, "include", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(name)
		for _, m := range macroLine.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], "SIMT_") {
				names = append(names, ownName.FindAllString(m[2], -1)...)
			}
		}
		return err
	})
	slices.Sort(names)
	return slices.Compact(names)
})
