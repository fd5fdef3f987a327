package code

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWordsOfSource(t *testing.T) {
	lines := Lines("int a = 0x10; // b\n/* c\n d */ __shared__ e;\n#pragma unroll\nf(\"// g\");")
	assert.Equal(t, []Span{{"word", "int"}, {"", " a = "}, {"number", "0x10"}, {"", "; "}, {"comment", "// b"}}, lines[0])
	assert.Equal(t, []Span{{"comment", "/* c"}}, lines[1])
	assert.Equal(t, []Span{{"comment", " d */"}, {"", " "}, {"cuda", "__shared__"}, {"", " e;"}}, lines[2])
	assert.Equal(t, Span{"word", "#pragma"}, lines[3][0])
	assert.Equal(t, []Span{{"", "f("}, {"text", `"// g"`}, {"", ");"}}, lines[4])
}

func TestSourceIsBounded(t *testing.T) {
	lines := Lines(strings.Repeat(strings.Repeat("é", 3000)+"\n", mostLines+5))
	assert.Len(t, lines, mostLines+1)
	assert.Len(t, []rune(lines[0][0].Text), mostColumns)
}
