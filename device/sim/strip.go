package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/sim/hostside"
)

// stripped is a file as its kernels need it.
type stripped struct {
	hostside.Result
	marked string // what the preprocessor left, with CUDA's words
	code   string // the text with strings and directives blanked
	where  func(at int) row
	args   []string // to compile what the file includes
	empty  []string // headers of the host's that it includes: nothing is in them here
}

// strip has the file preprocessed with CUDA's words left in, and takes its host side.
func (c *compiler) strip(dir string, args []string, s moduleSource) (stripped, error) {
	args = append(slices.Clone(args), "-I", ".", "-I", absent)
	if err := os.MkdirAll(filepath.Join(dir, absent), 0o755); err != nil {
		return stripped{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "marked.cpp"), []byte(s.wrapper()), 0o644); err != nil {
		return stripped{}, err
	}
	preprocess := append(s.headers.preprocessing(args, markedLink), "-DSIMT_MARKS", "marked.cpp", "-o", "marked.ii")
	var empty []string
	out, err := c.run(dir, preprocess...)
	for range 50 {
		if err == nil {
			break
		}
		name := emptyHeader(dir, out)
		if name == "" {
			break
		}
		empty = append(empty, name)
		out, err = c.run(dir, preprocess...)
	}
	if err != nil {
		return stripped{}, compileError(s, out, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "marked.ii"))
	if err != nil {
		return stripped{}, err
	}
	text := string(data)
	r := stripped{marked: text, where: markers(text), args: args, empty: empty}
	r.code = device.BlankNonCode(text)
	r.Result = hostside.Strip(text, r.code, ownParts(text, s), s.wanted...)
	return r, nil
}

// at is where the text has the first word of one of its own lines, or -1.
func (r stripped) at(file string, line int) int {
	current, n, offset := "", 0, 0
	for text := range strings.Lines(r.Text) {
		if m := lineMarker.FindStringSubmatch(text); m != nil {
			current = filepath.Base(m[2])
			n, _ = strconv.Atoi(m[1])
			n %= headerLines
		} else {
			if blank := len(text) - len(strings.TrimLeft(text, " \t\n")); n == line && current == file && blank < len(text) {
				return offset + blank
			}
			n++
		}
		offset += len(text)
	}
	return -1
}

// wrapper is what includes the file.
func (s moduleSource) wrapper() string {
	before := ""
	if s.usesPTX() {
		before = "#include \"simt/ptx.h\"\n"
	}
	return before + fmt.Sprintf("#include %q\n", s.name)
}

func (s moduleSource) usesPTX() bool {
	for _, text := range s.files {
		if usesPTX.MatchString(text) {
			return true
		}
	}
	return usesPTX.MatchString(s.text)
}

// span is a part of a text.
type span struct{ from, to int }

// ownSpans are the parts of preprocessed text that are the file's, or of what it includes of
// its own.
func ownSpans(text string, s moduleSource) []span {
	var spans []span
	own, offset := false, 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			if m := lineMarker.FindStringSubmatch(line); m != nil {
				before := own
				if own = s.owns(m[2]); own && !before {
					spans = append(spans, span{from: offset})
				}
			}
		}
		offset += len(line)
		if own {
			spans[len(spans)-1].to = offset
		}
	}
	return spans
}

// ownParts tells whether a place is in one of them.
func ownParts(text string, s moduleSource) func(at int) bool {
	spans := ownSpans(text, s)
	next := 0 // asked in order, most times
	return func(at int) bool {
		if next > 0 && at < spans[next-1].to {
			next = 0
		}
		for next < len(spans) && spans[next].to <= at {
			next++
		}
		return next < len(spans) && spans[next].from <= at
	}
}

// owns tells whether a file of the compiler's is the source, or one of those with it.
func (s moduleSource) owns(file string) bool {
	if s.program != nil {
		return s.program.owns(file)
	}
	file = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "./")
	_, ok := s.files[file]
	return ok || file == s.name
}

// words are CUDA's in code that no longer needs them, and those that the compiler
// knows by another name.
var (
	cudaWords = regexp.MustCompile(`__(?:` + strings.ReplaceAll(strings.Join(hostside.Words, "|"), "__", "") + `)__\b`) // begins with letters, which are found fast
	noInline  = regexp.MustCompile(`\b__noinline__\b`)
	wordByte  = regexp.MustCompile(`\w`)
	inner     = regexp.MustCompile(`__attribute__\s*\(\([^()]*__noinline__`)
	// cudaAttributes have been read, too.
	cudaAttributes = regexp.MustCompile(`\b(?:__launch_bounds__|__cluster_dims__)\s*\(`)
	alignment      = regexp.MustCompile(`\balignas\s*\(`)
)

// plain turns CUDA's words into the compiler's. additions go where they say.
func (r stripped) plain(own func(int) bool, additions map[int]string) string {
	code := device.BlankNonCode(r.Text)
	out := []byte(r.Text)
	for _, m := range cudaWords.FindAllStringIndex(code, -1) {
		if m[0] > 0 && wordByte.MatchString(code[m[0]-1:m[0]]) {
			continue // the end of a longer name
		}
		for i := m[0]; i < m[1]; i++ {
			out[i] = ' '
		}
	}
	var b strings.Builder
	done := 0
	replace := func(from, to int, by string) {
		b.Write(out[done:from])
		b.WriteString(by)
		done = to
	}
	for _, m := range cudaAttributes.FindAllStringIndex(code, -1) {
		if end := 1 + device.Closing(code, m[1]-1); end > 0 {
			for i := m[0]; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
	}
	attributes := inner.FindAllStringIndex(code, -1)
	edits := append(noInline.FindAllStringIndex(code, -1), alignment.FindAllStringIndex(code, -1)...)
	for at := range additions {
		edits = append(edits, []int{at, at})
	}
	slices.SortFunc(edits, func(a, b []int) int { return a[0] - b[0] })
	for _, m := range edits {
		if m[0] == m[1] {
			replace(m[0], m[0], inserted(r.Text, m[0], additions[m[0]]))
			continue
		}
		if !own(m[0]) || m[0] < done {
			continue
		}
		if code[m[0]] == '_' {
			if !slices.ContainsFunc(attributes, func(a []int) bool { return a[0] < m[0] && m[1] <= a[1] }) {
				replace(m[0], m[1], "__attribute__((noinline))")
			}
			continue
		}
		if end := 1 + device.Closing(code, m[1]-1); end > 0 {
			replace(m[0], end, "__attribute__((aligned(simt_alignment<"+string(out[m[1]:end-1])+">())))")
		}
	}
	b.Write(out[done:])
	return b.String()
}
