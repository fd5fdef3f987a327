package gate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// mostIncludes bounds how often a kernel's own headers are read for it: headers that include each
// other twice are read twice as often with each.
const mostIncludes = 100

// checkInclude looks at an #include: of the files that a submission brings, only the headers that its
// rubric lists, by their plain names.
func (r Rules) checkInclude(line int, d string, refuse func(int, string, string)) {
	m := includeForm.FindStringSubmatch(d)
	if m == nil {
		refuse(line, "#"+d, "write #include <header.h> with the header's name")
		return
	}
	open, name := m[1], m[2]
	shown := "#include " + open + name + strings.ReplaceAll(open, "<", ">")
	own := slices.Contains(r.Headers, name)
	switch {
	case own && open == "<":
		refuse(line, shown, fmt.Sprintf("write #include %q for a file of your own", name))
	case own || r.allows(name):
	case name == ptxHeader:
		refuse(line, shown, "it has inline PTX's instructions, which this task does not allow: write CUDA C++; tensorcore.h has mma and ldmatrix")
	case len(r.Headers) > 0 && open == "\"" && name != filepath.Base(name):
		refuse(line, shown, "name a header of the task's own folder, without a path: "+r.headers())
	case len(r.Headers) > 0:
		refuse(line, shown, r.mayInclude()+", and of the task's files "+r.headers())
	default:
		refuse(line, shown, r.mayInclude()+"; other helpers go into the file itself")
	}
}

// mayInclude says which headers a kernel may include, whatever its task.
func (r Rules) mayInclude() string {
	courses := "tensorcore.h, early.h"
	if r.PTX {
		courses += ", " + ptxHeader
	}
	return "a kernel may include CUDA's headers (cuda_fp16.h, mma.h …), " + courses + ", math.h, float.h, stdint.h and the like"
}

// headers lists the task's own.
func (r Rules) headers() string {
	if len(r.Headers) == 0 {
		return "it lists none"
	}
	return strings.Join(r.Headers, ", ")
}

// included is an #include of one of the task's own headers.
type included struct {
	line int
	name string
}

func (r Rules) includes(text string) (all []included) {
	plain, code := readable(text)
	for i, l := range strings.Split(code, "\n") {
		if d, ok := hashed(plain[i], l); ok {
			if m := includeForm.FindStringSubmatch(d); m != nil && slices.Contains(r.Headers, m[2]) {
				all = append(all, included{i + 1, m[2]})
			}
		}
	}
	return all
}

// CheckIncludes looks at how the files of one task include each other: none itself, be it by way of
// others, and none too often.
func (r Rules) CheckIncludes(files []File) []Refusal {
	if len(r.Headers) == 0 {
		return nil
	}
	var refused []Refusal
	of := map[string][]included{}
	paths := map[string]string{}
	for _, f := range files {
		if filepath.Ext(f.Name) != ".go" {
			of[f.Name], paths[f.Name] = r.includes(string(f.Data)), f.Path
		}
	}
	for _, f := range files {
		read := 0
		var follow func(open []string)
		follow = func(open []string) {
			last := open[len(open)-1]
			for _, i := range of[last] {
				if read++; read > mostIncludes {
					return
				}
				if !slices.Contains(open, i.name) {
					follow(append(slices.Clone(open), i.name))
				} else if i.name == f.Name { // a round that begins elsewhere is told of there
					refused = append(refused, Refusal{paths[last], i.line, fmt.Sprintf("#include %q", i.name), round(append(open, i.name))})
				}
			}
		}
		if follow([]string{f.Name}); read > mostIncludes {
			refused = append(refused, Refusal{f.Path, 0, fmt.Sprintf("its own headers are read more than %d times", mostIncludes), "include each once; #pragma once does not count here"})
		}
	}
	return refused
}

// round says how a file comes to include itself.
func round(open []string) string {
	if len(open) == 2 {
		return "a file cannot include itself: remove the line"
	}
	return "a file cannot include itself by way of others (" + strings.Join(open, " → ") + "): move what both need into a third"
}
