package preprocess

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A file that calls itself something else is found out: its lines are its own, whatever it calls them.
func TestAFileByAnotherName(t *testing.T) {
	p := Included("# 1 \"module.cpp\"\n# 1 \"k.cu\" 1\nint here;\n# 7 \"other.cu\"\nint beyond;\n# 2 \"module.cpp\" 2\nint outside;\n", "k.cu")
	assert.Equal(t, []Line{{"k.cu", 2, "other.cu"}}, p.Strange)
	assert.Equal(t, []Line{{"k.cu", 1, "int here;"}, {"k.cu", 7, "int beyond;"}}, p.Lines)
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
		assert.Equal(t, []Line{{"k.cu", 1, "int here;"}, {"k.cu", 3, "int more;"}}, p.Lines)
		assert.Equal(t, []Line{{"k.cu", 2, "/usr/include/math.h"}}, p.Includes)
		assert.Empty(t, p.Strange)
	}
	p := Main(head+"# 1 \"./defines.h\" 1\n# 2 \"k.cu\" 2\n# 9 \"<command-line>\"\nint beyond;\n", "k.cu", "defines.h")
	assert.Equal(t, []Line{{"k.cu", 1, "defines.h"}}, p.Includes, "it is named, though it came before")
	assert.Equal(t, []Line{{"k.cu", 2, "<command-line>"}}, p.Strange)
	assert.Equal(t, []Line{{"k.cu", 9, "int beyond;"}}, p.Lines)
	assert.Empty(t, Main("int x;\n", "k.cu", "defines.h").Lines)
}

// Headers that came with a file are its own, however deep; what they include is not, and neither is
// a file of the same name that something else includes.
func TestAFilesOwnHeaders(t *testing.T) {
	const text = "# 1 \"a.cuh\" 1\nint a;\n# 1 \"./b.cuh\" 1\nint b;\n# 1 \"/usr/include/math.h\" 1 3 4\nint math;\n# 1 \"a.cuh\" 1\nint theirs;\n" +
		"# 2 \"/usr/include/math.h\" 2 3 4\n# 2 \"b.cuh\" 2\nint c;\n# 3 \"a.cuh\" 2\n# 7 \"k.cu\"\nint d;\n# 2 \"k.cu\" 2\nint e;\n"
	want := []Line{{"a.cuh", 1, "int a;"}, {"b.cuh", 1, "int b;"}, {"b.cuh", 2, "int c;"}, {"a.cuh", 7, "int d;"}, {"k.cu", 2, "int e;"}}
	for _, p := range []Text{
		Included("# 1 \"module.cpp\"\n# 1 \"k.cu\" 1\n"+text+"# 2 \"module.cpp\" 2\nint outside;\n", "k.cu", "a.cuh", "b.cuh"),
		Main(old+text, "k.cu", "defines.h", "a.cuh", "b.cuh"),
	} {
		assert.Equal(t, want, p.Lines)
		assert.Equal(t, []Line{{"k.cu", 1, "a.cuh"}, {"a.cuh", 2, "b.cuh"}, {"b.cuh", 2, "/usr/include/math.h"}}, p.Includes)
		assert.Equal(t, []Line{{"a.cuh", 3, "k.cu"}}, p.Strange, "a header that calls itself the file")
	}
	p := Main(old+text, "k.cu", "defines.h")
	assert.Equal(t, []Line{{"k.cu", 2, "int e;"}}, p.Lines, "without its headers they are not its own")
}
