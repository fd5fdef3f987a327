package trace

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Where a compiler points to a closing bracket, the access is underlined that it ends.
func TestAnAccessIsUnderlined(t *testing.T) {
	for _, c := range []struct {
		source string
		column int
		under  string
	}{
		{"    m = part[0];", 15, "        ~~~~~~^"},
		{"sum += a[m * K + k] * b[k * N + n];", 34, "                      ~~~~~~~~~~~^"},
		{"sum += tile[t][c];", 17, "       ~~~~~~~~~^"},
		{"x = p.held[at[i]];", 17, "    ~~~~~~~~~~~~^"},
		{"c[i] = sum;", 6, "     ^"},    // the = of a write
		{"       t]);", 9, "        ^"}, // it began in the line before
		{"a[0]", 4, "~~~^"},
		{"a[0]", 5, "    ^"},
	} {
		f := Finding{File: "k.cu", Line: 7, Column: c.column, Message: "no", Source: c.source}
		assert.Equal(t, "k.cu:7:"+f.Headline()[7:]+"\n     7 | "+c.source+"\n       | "+c.under, f.String(), c.source)
	}
}
