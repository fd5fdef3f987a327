package copies

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// otherwise spells signs as C++'s words. (Pairs of signs that mean other signs are refused by the gate.)
var otherwise = strings.NewReplacer("&&", " and ", "||", " or ", "&=", " and_eq ", "|=", " or_eq ", "^=", " xor_eq ", "!=", " not_eq ",
	"&", " bitand ", "|", " bitor ", "^", " xor ", "~", " compl ", "!", " not ")

// TestOtherSpellingsHideNoCopy: C++ has words for signs. Each kernel file of the course is the same, token by token, however
// it is spelled.
func TestOtherSpellingsHideNoCopy(t *testing.T) {
	root, l := course(t)
	files := map[string]bool{}
	for _, f := range l.Functions {
		if path.Ext(f.File) != ".go" {
			files[f.File] = true
		}
	}
	for name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		code := device.BlankNonCode(string(text))
		assert.True(t, slices.Equal(cudaTokens(code, nil), cudaTokens(otherwise.Replace(code), nil)), name)
	}
	assert.Greater(t, len(files), 50)
}

// TestNoLengthHidesACopy: whatever stands before a copy, as much as a file may have.
func TestNoLengthHidesACopy(t *testing.T) {
	root, l := course(t)
	for ext, head := range map[string]string{".cu": "int a;\n", ".go": "var _ = 1\n"} {
		i := slices.IndexFunc(l.Functions, func(f Function) bool { return path.Ext(f.File) == ext && f.tokens > long })
		require.GreaterOrEqual(t, i, 0)
		f := l.Functions[i]
		data, err := os.ReadFile(filepath.Join(root, f.File))
		require.NoError(t, err)
		body := strings.Join(strings.Split(string(data), "\n")[f.From-1:f.To], "\n")
		text := "package flash\n" + strings.Repeat(head, (1<<20-len(body)-100)/len(head)) + body
		if ext == ".cu" {
			text = text[len("package flash\n"):]
		}
		found := l.Find("task4_flash/kernels"+ext, []byte(text))
		assert.True(t, slices.ContainsFunc(found, func(c Copy) bool { return c.Of.File == f.File && c.Of.From == f.From }), "%s:%d", f.File, f.From)
	}
}
