package gate

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
)

// TestAKernelTestsForHeadersItMayInclude: whatever file it names, the answer is the same for everybody, or there is none.
func TestAKernelTestsForHeadersItMayInclude(t *testing.T) {
	rules := Rules{Headers: []string{"tile.cuh"}, Course: []string{"split.h"}}
	for _, header := range append(slices.Collect(maps.Keys(allowedHeaders)), "tile.cuh", "split.h") {
		for _, form := range []string{"#if __has_include(<%s>)\n#endif\n", "#if defined(__has_include) && __has_include(\"%s\") // why\n#endif\n", "#if 0\n# elif !__has_include ( <%s> )\n#endif\n"} {
			assert.Empty(t, rules.CheckKernel("k.cu", fmt.Sprintf(form, header)), form, header)
		}
	}
	assert.Empty(t, rules.CheckKernel("k.cu", "#ifdef __has_include\n#endif\n#if defined __has_include\n#endif\n// __has_include(\"x\")\nconst char *s = \"__has_include\";\n"))
	for _, file := range []string{"/proc/1/environ", "/etc/hostname", "../solution/kernels.cu", "solution/kernels.cu", "unistd.h", "hopper.h", "Tile.cuh", "./tile.cuh", "kernels.cu", ""} {
		for _, form := range []string{"#if __has_include(<%s>)\n#endif\n", "#if __has_include(\"%s\")\n#endif\n", "#if 1 && __has_\\\ninclude(\"%s\")\n#endif\n"} {
			assert.NotEmpty(t, rules.CheckKernel("k.cu", fmt.Sprintf(form, file)), form, file)
		}
	}
	for _, text := range []string{"#if __has_include(NAME)\n#endif\n", "#define ASK __has_include\n", "#define THERE __has_include(<math.h>)\n", "#if __has_include_next(<math.h>)\n#endif\n",
		"#if __has_embed(\"/etc/passwd\")\n#endif\n", "int x = __has_include(<math.h>);\n", "#if __has_include(<math.h> \"x\")\n#endif\n", "#if __has_include__(<x>)\n#endif\n"} {
		assert.NotEmpty(t, rules.CheckKernel("k.cu", text), text)
	}
	for _, d := range []map[string]string{{"ASK": "__has_include"}, {"__has_include": "1"}} {
		_, err := rules.VetSource(device.Source{Name: "k.cu", Text: "int x;\n", Defines: d})
		assert.ErrorContains(t, err, "in a macro: __has_include", "%v", d)
	}
}

// TestCommentsSayWhatTheyLike: all that is refused in code is fine in a comment, and in a string, where it is a text.
func TestCommentsSayWhatTheyLike(t *testing.T) {
	inner := strings.NewReplacer("\\\n", " ", "\n", " ", "/*", "", "*/", "", "//", "", `"`, "'", `\`, "")
	for name, c := range refusedKernels {
		text := inner.Replace(c.src) + " ."
		for _, form := range []string{"int x; // %s\n", "/* %s */ int x;\n", "/*\n%s\n*/\n", "const char *s = \"%s\";\n"} {
			assert.Empty(t, Rules{}.CheckKernel("k.cu", fmt.Sprintf(form, text)), name)
		}
	}
	for _, text := range []string{"// really??! yes??/ no\n", "/* ??= ??( ??) */\n", "const char *s = \"what??! ??'\";\n", "#pragma region sums\nint x;\n#pragma endregion\n#pragma mark rows\n", "std::vector<::ns::T> *v;\n",
		"#pragma nv_diag_suppress 177\n#pragma nv_diagnostic push\n"} {
		assert.Empty(t, Rules{}.CheckKernel("k.cu", text), text)
	}
	for _, text := range []string{"// why??/\nint x;\n", "// why??/ \t\nint x;\n", "const char *s = \"??/\";\n", "int x??(3??);\n", "// a ?\\\n?/\nint x;\n"} {
		assert.Contains(t, (&Error{Rules{}.CheckKernel("k.cu", text)}).Error(), "holds a trigraph", text)
	}
}

// TestLineDirectivesAreThoseOfGo: a comment is refused if, and only if, Go's own scanner takes it for one.
func TestLineDirectivesAreThoseOfGo(t *testing.T) {
	refused := 0
	for _, comment := range []string{"//line x.go:7", "//line of thought", "//line of thought:", "//line of thought: the sums", "// line of thought: the sums", "//line: 3", "//line 7", "//lines 1:2",
		"/*line x.go:7*/", "/*line x.go:7:3*/", "/*line of thought*/", "/* line x.go:7 */", "/*lines 1:2*/", "//line a:0", "//line :7"} {
		for _, indent := range []string{"", "\t", "var x int "} {
			text := "package p\n\n" + indent + comment + "\nvar y int\n"
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, "a.go", text, parser.ParseComments)
			moved := err != nil
			if err == nil {
				end := file.Decls[len(file.Decls)-1].Pos()
				moved = set.Position(end) != set.PositionFor(end, false)
			}
			got := CheckGo("a.go", []byte(text), "p")
			assert.Equal(t, moved, len(got) > 0, "%q: %v", indent+comment, got)
			if moved {
				refused++
			}
		}
	}
	assert.Greater(t, refused, 10)
	assert.Empty(t, CheckGo("a.go", []byte("package p\n\nfunc f() {\n\t// +build up the row\n\t//export the sums\n}\n"), "p"))
	assert.Contains(t, (&Error{CheckGo("a.go", []byte("package p\n//line of thought: the sums\n"), "p")}).Error(), "put a space after the slashes")
}
