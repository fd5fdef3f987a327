package sim

import (
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Preprocessed is what the compiler's own preprocessor made of a kernel's file: its
// lines, macros expanded and comments gone, and what it includes. Whoever vets this sees
// what is compiled, and not what another reading of the text would be.
type Preprocessed struct {
	File       string
	Lines      []Line
	Includes   []Line   // the paths of what the file itself includes
	Strange    []Line   // directives that say other lines are meant
	Headers    string   // the folder of the simulator's own headers
	Translated bool     // its asm statements are inline PTX, and become C++
	Words      []string // names of the simulator's that macros of these headers bring in
}

// Line is one line, and where the file has it.
type Line struct {
	Number int
	Text   string
}

// preprocessed runs the preprocessor alone.
func (c *compiler) preprocessed(dir, include string, args []string, s moduleSource) (Preprocessed, error) {
	out, err := c.run(dir, append(slices.Clone(args), "-E", "module.cpp")...)
	if err != nil {
		return Preprocessed{}, compileError(s, out, err)
	}
	p := readPreprocessed(out, s.name)
	p.Headers, p.Words, p.Translated = include, ownMacros(), usesPTX.MatchString(s.text)
	return p, nil
}

var marker = regexp.MustCompile(`^# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$`)

// readPreprocessed goes by how deep the includes are, not by names: a file could call
// itself something else.
func readPreprocessed(output, file string) Preprocessed {
	p := Preprocessed{File: file}
	depth, own, at := 0, -1, 0
	for text := range strings.Lines(output) {
		text = strings.TrimRight(text, "\n")
		m := marker.FindStringSubmatch(text)
		if m == nil {
			if depth == own && strings.TrimSpace(text) != "" {
				p.Lines = append(p.Lines, Line{at, text})
			}
			at++
			continue
		}
		name := strings.TrimPrefix(m[2], "./")
		switch flags := strings.Fields(m[3]); {
		case slices.Contains(flags, "1"):
			if depth == own {
				p.Includes = append(p.Includes, Line{at, name})
			}
			if depth++; own < 0 && name == file {
				own = depth
			}
		case slices.Contains(flags, "2"):
			if depth--; depth < own {
				own = -2 // it is done, and nothing else is it
			}
		case depth == own && name != file:
			p.Strange = append(p.Strange, Line{at, name})
		}
		at, _ = strconv.Atoi(m[1])
	}
	return p
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
