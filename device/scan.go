package device

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// ScanKernels finds the `extern "C" __global__` functions that a .cu file
// defines, so that arguments can be checked before a launch in the same way on every
// device. Those that a macro of the file writes are among them; templates and mere
// declarations are not.
func ScanKernels(text string) []Signature { return scanKernels(text, nil) }

func scanKernels(text string, defined func(macro string) (is, known bool)) []Signature {
	code := BlankComments(text)
	code = expandKernels(blankDirectives(code, defined), kernelMacros(code))
	blocks := externBlocks(code)
	var found []Signature
	line, counted := 1, 0
	for _, at := range globalToken.FindAllStringIndex(code, -1) {
		line, counted = line+strings.Count(code[counted:at[0]], "\n"), at[0]
		if !isExternC(code, at[0], blocks) {
			continue
		}
		name, open := kernelName(code, at[1])
		if name == "" {
			continue
		}
		params, ok := balanced(code[open:])
		if !ok {
			continue
		}
		after := strings.TrimLeft(code[open+len(params)+2:], " \t\r\n")
		if strings.HasPrefix(after, ";") {
			continue // a declaration: the definition is elsewhere
		}
		sig := Signature{Name: name, Line: line, Empty: emptyBody.MatchString(after)}
		for _, p := range splitParams(params) {
			sig.Params = append(sig.Params, parseParam(p))
		}
		found = append(found, sig)
	}
	return found
}

// Scan finds the kernels of a source: its text's, and those of the files that it includes, whose lines
// are not the text's and left out. Where an #ifdef decides, the definition that its macros leave comes
// first.
func (s Source) Scan() []Signature {
	var all []Signature
	for _, defined := range []func(string) (bool, bool){s.defined, nil} {
		found := scanKernels(s.Text, defined)
		for _, name := range slices.Sorted(maps.Keys(s.Files)) {
			for _, sig := range scanKernels(s.Files[name], defined) {
				sig.Line = 0
				found = append(found, sig)
			}
		}
		for _, sig := range found {
			if !slices.ContainsFunc(all, func(one Signature) bool { return reflect.DeepEqual(one, sig) }) {
				all = append(all, sig)
			}
		}
	}
	return all
}

// defined tells whether a macro is. Those that begin with an underscore are the compiler's.
func (s Source) defined(macro string) (is, known bool) {
	if _, given := s.Defines[macro]; given {
		return true, true
	}
	written := regexp.MustCompile(`#[ \t]*define[ \t]+` + regexp.QuoteMeta(macro) + `\b`)
	for _, text := range append(slices.Collect(maps.Values(s.Files)), s.Text) {
		if written.MatchString(text) {
			return false, false
		}
	}
	return false, !strings.HasPrefix(macro, "_")
}

// FindKernel looks up a signature by name; the error lists those that exist.
func FindKernel(file string, sigs []Signature, name string) (Signature, error) {
	var names []string
	for _, s := range sigs {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	about := ""
	if strings.Contains(name, "<") {
		about = ". Of templates it has those that Source.Kernels asks for, by the same words"
	}
	if len(names) == 0 {
		return Signature{}, fmt.Errorf("%s has no kernel %q: it has none at all that reads extern \"C\" __global__ void name(...)%s", file, name, about)
	}
	return Signature{}, fmt.Errorf("%s has no kernel %q; it has %s%s", file, name, strings.Join(names, ", "), about)
}

// longest is how far a kernel's declaration may reach to either side of
// __global__: a bound, so that no file can take minutes to scan.
const longest = 4 << 10

var (
	globalToken = regexp.MustCompile(`\b__global__\b`)
	// externC: the C is gone, because the insides of strings are blanked.
	externC      = regexp.MustCompile(`\bextern\s*" "`)
	externCBlock = regexp.MustCompile(`\bextern\s*" "\s*\{`)
	// nameToken: an identifier directly before an opening parenthesis.
	nameToken = regexp.MustCompile(`^\s*([A-Za-z_]\w*)\s*\(`)
	word      = regexp.MustCompile(`^\s*([A-Za-z_]\w*)`)
	emptyBody = regexp.MustCompile(`^\{\s*\}`)
)

// externBlocks finds the insides of every extern "C" { … }, from brace to brace.
func externBlocks(code string) [][2]int {
	opens := map[int]bool{}
	for _, m := range externCBlock.FindAllStringIndex(code, -1) {
		opens[m[1]-1] = true
	}
	var blocks [][2]int
	var stack []int // the braces that are open
	for i := range len(code) {
		switch code[i] {
		case '{':
			stack = append(stack, i)
		case '}':
			if len(stack) == 0 {
				continue
			}
			open := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if opens[open] {
				blocks = append(blocks, [2]int{open, i})
			}
		}
	}
	return blocks
}

// isExternC tells whether the declaration around an offset has C linkage, either
// from its own extern "C" or from the block around it.
func isExternC(code string, at int, blocks [][2]int) bool {
	before := code[max(0, at-longest):at]
	before = before[strings.LastIndexAny(before, ";{}")+1:]
	if strings.Contains(before, "extern") && externC.MatchString(before) {
		return true
	}
	for _, b := range blocks {
		if b[0] < at && at < b[1] {
			return true
		}
	}
	return false
}

// kernelName reads on after __global__ to the function's name, past void,
// __launch_bounds__(…) and other attributes. It returns the name and the index
// of its opening parenthesis.
func kernelName(code string, at int) (string, int) {
	for range 8 {
		if m := nameToken.FindStringSubmatchIndex(code[at:]); m != nil {
			name := code[at+m[2] : at+m[3]]
			open := at + m[1] - 1
			if !strings.HasPrefix(name, "__") {
				return name, open
			}
			inner, ok := balanced(code[open:]) // __launch_bounds__(256)
			if !ok {
				return "", 0
			}
			at = open + len(inner) + 2
			continue
		}
		m := word.FindStringIndex(code[at:])
		if m == nil {
			return "", 0
		}
		at += m[1]
	}
	return "", 0
}

// balanced returns the text between the parenthesis that s starts with and its
// partner.
func balanced(s string) (string, bool) {
	depth := 0
	for i := range min(len(s), longest) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[1:i], true
			}
		}
	}
	return "", false
}
