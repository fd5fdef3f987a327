package copies

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMacrosThatStandForNothing(t *testing.T) {
	for _, text := range []string{"#define A\n", "  # define A ; ; // none\n", "#define A { }\n", "int x;\n#define A\nA A\n"} {
		assert.Contains(t, emptyFrom(text), "A", text)
	}
	for _, text := range []string{"#define A 1\n", "#define A(x)\n", "#define A\n#undef A\n", "#define A\n#define A\n", "#if 0\n#define A\n#endif\n", "#ifdef B\n#else\n#define A\n#endif\n",
		"#define B \\\n#define A\n", "// #define A\n", "#define A \\\n 1\n"} {
		assert.NotContains(t, emptyFrom(text), "A", text)
	}
	assert.Equal(t, 17, emptyFrom("int A;\n#define A\nA")["A"])
}

// TestNoDefinitionHidesACopy: names of the copy itself are defined as nothing where the compiler does not see it.
func TestNoDefinitionHidesACopy(t *testing.T) {
	root, l := course(t)
	data, err := os.ReadFile(filepath.Join(root, "nn", "attention.cu"))
	require.NoError(t, err)
	var undone, unseen, late strings.Builder
	for _, name := range []string{"x", "i", "j", "q", "k", "v", "out", "row", "sum", "key", "lane", "warp", "most", "scale", "tile", "thread", "dim", "heads"} {
		undone.WriteString("#define " + name + "\n#undef " + name + "\n")
		unseen.WriteString("#define " + name + "\n")
		late.WriteString("#define " + name + "\n")
	}
	plain := l.Find("task4_flash/kernels.cu", data)
	require.NotEmpty(t, plain)
	for name, text := range map[string]string{"undone": undone.String() + string(data), "under a condition": "#if 0\n" + unseen.String() + "#endif\n" + string(data),
		"behind it": string(data) + "\n" + late.String()} {
		assert.Len(t, l.Find("task4_flash/kernels.cu", []byte(text)), len(plain), name)
	}
}
