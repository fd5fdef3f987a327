package copies

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTokens(t *testing.T) {
	kinds := func(name, text string) (all []uint32) {
		for _, one := range Tokens(name, []byte(text)) {
			all = append(all, one.Kind)
		}
		return all
	}
	assert.Equal(t, kinds("a.cu", "float x = y[3]; // why"), kinds("a.cu", "float  sum=tile[ 0x1F ];"))
	assert.NotEqual(t, kinds("a.cu", "float x = 1.5f;"), kinds("a.cu", "int x = 1.5f;"))
	assert.Equal(t, kinds("a.go", "package a; var x = f(1);"), kinds("a.go", "package b;\n\nvar long = g(2); // two"))
	assert.Nil(t, Tokens("README.md", []byte("text")))
	lines := Tokens("a.cu", []byte("/* two\nlines */ int\n x + 1;"))
	assert.Equal(t, []int32{2, 3, 3}, []int32{lines[0].Line, lines[1].Line, lines[2].Line})
}
