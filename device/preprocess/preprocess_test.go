package preprocess

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A file that calls itself something else is found out: its lines are its own, whatever it calls them.
func TestAFileByAnotherName(t *testing.T) {
	p := Included("# 1 \"module.cpp\"\n# 1 \"k.cu\" 1\nint here;\n# 7 \"other.cu\"\nint beyond;\n# 2 \"module.cpp\" 2\nint outside;\n", "k.cu")
	assert.Equal(t, []Line{{2, "other.cu"}}, p.Strange)
	assert.Equal(t, []Line{{1, "int here;"}, {7, "int beyond;"}}, p.Lines)
}

// As g++ 12 and older ones begin: the file's name comes first, before the compiler's own headers.
const (
	head = "# 0 \"k.cu\"\n# 0 \"<built-in>\"\n# 0 \"<command-line>\"\n# 1 \"/usr/include/stdc-predef.h\" 1 3 4\n# 0 \"<command-line>\" 2\n" +
		"# 1 \"/cuda/include/cuda_runtime.h\" 1\nint theirs;\n# 0 \"<command-line>\" 2\n# 1 \"./defines.h\" 1\n# 0 \"<command-line>\" 2\n# 1 \"k.cu\"\n"
	old = "# 1 \"k.cu\"\n# 1 \"<built-in>\"\n# 1 \"<command-line>\"\n# 1 \"./defines.h\" 1\n# 1 \"<command-line>\" 2\n# 1 \"k.cu\"\n"
)

func TestTheFileItself(t *testing.T) {
	for _, head := range []string{head, old} {
		p := Main(head+"int here;\n# 1 \"/usr/include/math.h\" 1 3 4\nint math;\n# 3 \"k.cu\" 2\n# 3 \"k.cu\" 3 4\nint more;\n", "k.cu", "defines.h")
		assert.Equal(t, []Line{{1, "int here;"}, {3, "int more;"}}, p.Lines)
		assert.Equal(t, []Line{{2, "/usr/include/math.h"}}, p.Includes)
		assert.Empty(t, p.Strange)
	}
	p := Main(head+"# 1 \"./defines.h\" 1\n# 2 \"k.cu\" 2\n# 9 \"<command-line>\"\nint beyond;\n", "k.cu", "defines.h")
	assert.Equal(t, []Line{{1, "defines.h"}}, p.Includes, "it is named, though it came before")
	assert.Equal(t, []Line{{2, "<command-line>"}}, p.Strange)
	assert.Equal(t, []Line{{9, "int beyond;"}}, p.Lines)
	assert.Empty(t, Main("int x;\n", "k.cu", "defines.h").Lines)
}
