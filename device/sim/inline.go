package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/sim/ptx"
)

var usesPTX = regexp.MustCompile(`\b(?:asm|__asm__|__asm)\b`)

// rewritePTX has inline PTX translated. The compiler then gets the preprocessed text, in
// which no asm of the file is left; the arguments to compile it are returned.
func (c *compiler) rewritePTX(dir string, args []string, s moduleSource) ([]string, error) {
	if !usesPTX.MatchString(s.text) {
		return args, nil
	}
	preprocessed := append(append([]string{}, args...), "-E", "module.cpp", "-o", "module.ii")
	if out, err := c.run(dir, preprocessed...); err != nil {
		return nil, compileError(s, out, err)
	}
	path := filepath.Join(dir, "module.ii")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(data)
	where := markers(text)
	own := func(at int) bool { return where(at).file == s.name }
	text2, errs := ptx.Rewrite(text, device.BlankNonCode(text), own)
	if len(errs) > 0 {
		e := &device.CompileError{File: s.name}
		for _, f := range errs[:min(len(errs), 12)] {
			e.Diagnostics = append(e.Diagnostics, device.Diagnostic{File: s.name, Line: where(f.At).line, Severity: "error", Text: f.Text})
		}
		e.Output = e.Error()
		return nil, e
	}
	if err := os.WriteFile(path, []byte(text2), 0o644); err != nil {
		return nil, err
	}
	// The wrapper's file now is the preprocessed text itself.
	if err := os.Rename(path, filepath.Join(dir, "module.cpp")); err != nil {
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
		m.line += strings.Count(text[m.at:at], "\n")
		return m.row
	}
}
