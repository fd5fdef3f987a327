package gate

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// The members of the language's classes that a kernel may name, a line for each class: its name, what it is as a type
// of its own, if it is a template, and its members.
//
//go:embed testdata/members.txt
var membersList string

// class is one of the headers', by its text.
type class struct {
	words map[string]bool // that its body has
	bases []string
}

var (
	classHead = regexp.MustCompile(`\b(?:struct|class|union)\s+(?:__attribute__\s*\(\([^{};]*?\)\)\s*|alignas\([^{};]*?\)\s*)?(\w+)\s*(?:<[^{};]*>\s*)?(?:final\s*)?(?::([^{};]*))?\{`)
)

// classes are those which our headers define, by their names.
func (r *reader) classes() map[string]class {
	text, found := r.own(), map[string]class{}
	for _, at := range classHead.FindAllStringSubmatchIndex(text, -1) {
		name := text[at[2]:at[3]]
		c, known := found[name]
		if !known {
			c = class{words: map[string]bool{}}
		}
		for _, w := range nameOf.FindAllString(text[at[1]:device.Closing(text, at[1]-1)], -1) {
			c.words[w] = true
		}
		if at[4] >= 0 {
			c.bases = append(c.bases, nameOf.FindAllString(text[at[4]:at[5]], -1)...)
		}
		found[name] = c
	}
	return found
}

var nameOf = regexp.MustCompile(`\b[A-Za-z_]\w*`)

// wordsOf are those of a class's body, and of those that it is derived from.
func wordsOf(all map[string]class, name string, seen map[string]bool) map[string]bool {
	words := map[string]bool{}
	if c, is := all[name]; is && !seen[name] {
		seen[name] = true
		maps.Copy(words, c.words)
		for _, b := range c.bases {
			maps.Copy(words, wordsOf(all, b, seen))
		}
	}
	return words
}

// Of a class's members, too, a kernel can name what the language has, and no more: what is private does not resolve, and
// what is the simulator's has a name that the gate refuses.
func TestNoMemberOutsideTheLanguageResolves(t *testing.T) {
	r := newReader(t)
	all, listed := r.classes(), map[string]map[string]bool{}
	types := map[string]string{} // as a type → the class
	for line := range strings.Lines(membersList) {
		head, members, is := strings.Cut(line, ": ")
		if strings.HasPrefix(line, "#") || !is {
			continue
		}
		name, typed, isTemplate := strings.Cut(head, " ")
		if !isTemplate {
			typed = name
		}
		types[typed] = name
		listed[typed] = map[string]bool{}
		for _, m := range strings.Fields(members) {
			listed[typed][strings.TrimPrefix(m, "~")] = true
		}
	}
	inLanguage := map[string]bool{}
	for namespace, names := range language() {
		for _, name := range names {
			if _, is := all[name]; is && namespace != "macros" {
				inLanguage[strings.TrimPrefix(namespace+"::"+name, "::")] = true
			}
		}
	}
	delete(inLanguage, "cuda::pipeline_role") // an enumeration: it has no members of its own
	for name := range inLanguage {
		assert.Contains(t, slices.Collect(maps.Values(types)), name, "testdata/members.txt has no line of its members")
	}
	type try struct{ typed, member string }
	var tries []try
	var lines []string
	for _, typed := range slices.Sorted(maps.Keys(types)) {
		short := types[typed][strings.LastIndex(types[typed], ":")+1:]
		for _, word := range slices.Sorted(maps.Keys(wordsOf(all, short, map[string]bool{}))) {
			tries = append(tries, try{typed, word})
			lines = append(lines, fmt.Sprintf("namespace try_%d { struct D : %s { using Base = %s; using Base::%s; }; }", len(lines), typed, typed, word))
		}
	}
	wrong := r.errorsOf(everything, lines)
	require.NotEmpty(t, wrong)
	assert.Greater(t, len(tries)-len(wrong), 400)
	resolved, refused := map[string]map[string]bool{}, 0
	for i, one := range tries {
		if _, bad := wrong[i]; bad {
			continue
		}
		if resolved[one.typed] == nil {
			resolved[one.typed] = map[string]bool{}
		}
		resolved[one.typed][one.member] = true
		if listed[one.typed][one.member] {
			continue
		}
		refused++
		assert.NotEmpty(t, Rules{PTX: true}.CheckKernel("k.cu", "auto x = y."+one.member+";"), "a kernel can name %s of %s: if CUDA has it, add it to testdata/members.txt; "+
			"else make it private, or give it a name that begins with simt_", one.member, one.typed)
	}
	for typed, members := range listed {
		for m := range members {
			assert.True(t, resolved[typed][m], "testdata/members.txt has %s of %s, which is not there", m, typed)
		}
	}
	t.Logf("%d members of %d types tried, %d resolve, %d of these refused", len(tries), len(types), len(tries)-len(wrong), refused)
}
