// Package code cuts source into words to colour, for the pages that show lines of it. What it returns is
// bounded, and plain text: escaping is for the page to do.
package code

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Span is a piece of a line of source, and what kind of word it is: "" for nothing special.
type Span struct{ Kind, Text string }

const (
	mostLines   = 3000 // of a file
	mostColumns = 240
)

var (
	token = regexp.MustCompile(`//.*|/\*.*?\*/|/\*.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|#\s*\w+|\b\d[\w.]*|[A-Za-z_]\w*`)
	word  = set(`alignas auto bool break case char class const constexpr continue default do double else enum extern false
		float for if inline int long namespace nullptr operator return short signed sizeof static static_assert struct switch
		template true typedef typename union unsigned using void volatile while size_t uint32_t uint64_t int32_t half float2 float4`)
	cuda = set(`__global__ __device__ __shared__ __host__ __constant__ __restrict__ __forceinline__ __launch_bounds__ __syncthreads
		__syncwarp threadIdx blockIdx blockDim gridDim warpSize`)
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// Lines cuts a file into its lines, and these into words: comments, texts, numbers, C++'s words
// and CUDA's.
func Lines(text string) (lines [][]Span) {
	inside := false // a comment of several lines
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i == mostLines {
			return append(lines, []Span{{"comment", "… the rest of the file is left out"}})
		}
		line = short(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    "))
		var spans []Span
		spans, inside = cut(line, inside)
		lines = append(lines, spans)
	}
	return lines
}

func cut(line string, inside bool) (spans []Span, still bool) {
	if inside {
		end := strings.Index(line, "*/")
		if end < 0 {
			return []Span{{"comment", line}}, true
		}
		spans, line = append(spans, Span{"comment", line[:end+2]}), line[end+2:]
	}
	at := 0
	for _, m := range token.FindAllStringIndex(line, -1) {
		one := line[m[0]:m[1]]
		kind := kindOf(one)
		if kind == "" {
			continue
		}
		if m[0] > at {
			spans = append(spans, Span{"", line[at:m[0]]})
		}
		spans, at = append(spans, Span{kind, one}), m[1]
		still = strings.HasPrefix(one, "/*") && !strings.HasSuffix(one, "*/")
	}
	if at < len(line) {
		spans = append(spans, Span{"", line[at:]})
	}
	return spans, still
}

func kindOf(one string) string {
	switch c := one[0]; {
	case c == '/':
		return "comment"
	case c == '"' || c == '\'':
		return "text"
	case c == '#' || word[one]:
		return "word"
	case c >= '0' && c <= '9':
		return "number"
	case cuda[one]:
		return "cuda"
	}
	return ""
}

// short bounds a line.
func short(line string) string {
	if utf8.RuneCountInString(line) <= mostColumns {
		return line
	}
	return string([]rune(line)[:mostColumns-1]) + "…"
}
