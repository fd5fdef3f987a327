package show

import (
	"regexp"
	"strings"
)

// span is a piece of a line of source, and what kind of word it is: "" for nothing special.
type span struct{ Kind, Text string }

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

// spansOf cuts a file into its lines, and these into words: comments, texts, numbers, C++'s words
// and CUDA's.
func spansOf(text string) (lines [][]span) {
	inside := false // a comment of several lines
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i == mostLines {
			return append(lines, []span{{"comment", "… the rest of the file is left out"}})
		}
		line = short(strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    "), mostColumns)
		var spans []span
		spans, inside = cut(line, inside)
		lines = append(lines, spans)
	}
	return lines
}

func cut(line string, inside bool) (spans []span, still bool) {
	if inside {
		end := strings.Index(line, "*/")
		if end < 0 {
			return []span{{"comment", line}}, true
		}
		spans, line = append(spans, span{"comment", line[:end+2]}), line[end+2:]
	}
	at := 0
	for _, m := range token.FindAllStringIndex(line, -1) {
		one := line[m[0]:m[1]]
		kind := kindOf(one)
		if kind == "" {
			continue
		}
		if m[0] > at {
			spans = append(spans, span{"", line[at:m[0]]})
		}
		spans, at = append(spans, span{kind, one}), m[1]
		still = strings.HasPrefix(one, "/*") && !strings.HasSuffix(one, "*/")
	}
	if at < len(line) {
		spans = append(spans, span{"", line[at:]})
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
