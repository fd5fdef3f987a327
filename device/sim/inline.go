package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/sim/ptx"
)

var usesPTX = regexp.MustCompile(`\b(?:asm|__asm__|__asm)\b`)

// writeModule writes what is compiled: the file as it is, or, if something of it is not for
// this machine's compiler (inline PTX, the host's functions, what shall be NaN), what the
// preprocessor and we have made of it. The arguments to compile that are returned.
func (c *compiler) writeModule(dir string, args []string, s moduleSource, r stripped, table string, nan bool) ([]string, error) {
	inline := s.usesPTX()
	module := filepath.Join(dir, "module.cpp")
	additions := r.additions()
	text := r.plain(ownParts(r.Text, s), additions)
	if nan {
		text, nan = undefinedAsNaN(text, s)
	}
	if !inline && !r.Any && !nan && len(additions) == 0 {
		return args, os.WriteFile(module, fmt.Appendf(nil, "#include %q\n%s# 1 \"module.cpp\"\n%s", s.name, device.Undefined(emptyTable), table), 0o644)
	}
	if inline {
		var err error
		if text, err = r.rewritePTX(text, s); err != nil {
			return nil, err
		}
	}
	text = s.headers.unmarked(text)
	if err := os.WriteFile(module, []byte(text+"\n# 1 \"module.cpp\"\n"+table), 0o644); err != nil {
		return nil, err
	}
	var plain []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-include":
			i++
		case strings.HasPrefix(args[i], "-D") || args[i] == "-U_FORTIFY_SOURCE":
		default:
			plain = append(plain, args[i])
		}
	}
	return append(plain, "-x", "c++-cpp-output"), nil
}

// emptyTable has the words of a table of kernels.
var emptyTable = (&compiler{}).table([]entry{{}})

// rewritePTX has inline PTX translated: no asm of the file is left. What is not served becomes the call of a function
// that compilers refuse with its message, where they have to compile it: not in a template that nobody uses.
func (r stripped) rewritePTX(text string, s moduleSource) (string, error) {
	where := markers(text)
	rewritten, errs := ptx.Rewrite(text, device.BlankNonCode(text), ownParts(text, s))
	l := &lackingError{file: s.name}
	var lacking strings.Builder
	for _, f := range errs {
		if f.Stands != "" {
			fmt.Fprintf(&lacking, "extern \"C\" __attribute__((error(%q))) void %s();\n", f.Text, f.Stands)
			continue
		}
		at := where(f.At)
		l.places = append(l.places, r.at(at.file, at.line))
		l.found = append(l.found, device.Diagnostic{File: at.file, Line: at.line, Severity: "error", Text: f.Text})
	}
	if err := l.orNil(); err != nil {
		return "", err
	}
	if lacking.Len() > 0 {
		own := ownSpans(rewritten, s)[0].from
		rewritten = rewritten[:own] + lacking.String() + rewritten[own:]
	}
	return rewritten, nil
}

// unserved are the kernels of a vetted file that come to PTX which is not served. That goes by the text: nvcc compiles
// what no kernel comes to, and may choose a template's arguments otherwise. What no kernel comes to refuses the file.
func (r stripped) unserved(s moduleSource) (kernels []refused, err error) {
	_, errs := ptx.Rewrite(r.Text, device.BlankNonCode(r.Text), ownParts(r.Text, s))
	places := make([]int, len(errs))
	why := make([]device.Diagnostic, len(errs))
	for i, f := range errs {
		at := r.where(f.At)
		places[i], why[i] = f.At, device.Diagnostic{File: at.file, Line: at.line, Severity: "error", Text: f.Text}
	}
	comers, nobodys := r.Comers(places)
	l := &lackingError{file: s.name}
	for _, i := range nobodys {
		l.found = append(l.found, why[i])
	}
	if len(l.found) > 0 {
		return nil, l.compileError()
	}
	for _, k := range comers {
		kernels = append(kernels, refused{k.Kernel, why[k.Reason]})
	}
	return kernels, nil
}

// markers tells which file and line a place of preprocessed text is from.
func markers(text string) func(at int) row {
	type mark struct {
		at int // the line behind the marker
		row
	}
	var marks []mark
	offset := 0
	for line := range strings.Lines(text) {
		if m := lineMarker.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			marks = append(marks, mark{offset + len(line), row{file: strings.TrimPrefix(m[2], "./"), line: n}})
		}
		offset += len(line)
	}
	return func(at int) row {
		low, high := 0, len(marks)
		for low < high {
			if mid := (low + high) / 2; marks[mid].at <= at {
				low = mid + 1
			} else {
				high = mid
			}
		}
		if low == 0 {
			return row{}
		}
		m := marks[low-1]
		m.line = (m.line + strings.Count(text[m.at:at], "\n")) % headerLines
		return m.row
	}
}
