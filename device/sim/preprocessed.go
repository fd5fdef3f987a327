package sim

import (
	"io/fs"
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

// preprocessed runs the preprocessor alone.
func (c *compiler) preprocessed(dir, include string, args []string, s moduleSource) (Preprocessed, error) {
	out, err := c.run(dir, append(slices.Clone(args), "-E", "module.cpp")...)
	if err != nil {
		return Preprocessed{}, compileError(s, out, err)
	}
	p := preprocess.Included(out, s.name)
	p.Headers, p.Words, p.Translated = include, ownMacros(), usesPTX.MatchString(s.text)
	return p, nil
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
