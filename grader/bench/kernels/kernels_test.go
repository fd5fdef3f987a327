package kernels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

const kernel = `// A sum.
#include "tile.cuh"
#include <cuda_fp16.h>
#define TWICE(x) ((x) + (x))
extern "C" __global__ void sum(float *to, const float *from, int n) {
    /* each thread */
    const char *text = "// no comment";
#if BITS == 8
    int i = threadIdx.x;
#else
    int i = 2 * threadIdx.x;
#endif
    if (i < n) to[i] = tile(from[i]); // and so on
}
`

const header = "#pragma once\n// A tile.\n__device__ float tile(float x) { return x; }\n"

func hashOf(t *testing.T, cu, cuh string) string {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	sum, err := hash(root, []gate.File{{Name: "kernels.cu", Data: []byte(cu)}, {Name: "tile.cuh", Data: []byte(cuh)}})
	require.NoError(t, err)
	return sum
}

func TestCommentsAndLinesDoNotCount(t *testing.T) {
	was := hashOf(t, kernel, header)
	for what, change := range map[string][2]string{
		"a comment":              {"// A sum.", "// Another sum, of other words."},
		"no comment":             {"/* each thread */", ""},
		"a line's comment":       {" // and so on", ""},
		"a break":                {"void sum(float *to, const", "void sum(\n    float *to,\n    const"},
		"no blanks":              {"i < n", "i<n"},
		"a line goes on":         {"((x) + (x))", "\\\n    ((x) + (x))"},
		"blanks in a directive":  {"#define TWICE(x) ((x)", "#define   TWICE(x)   ((x)"},
		"a macro's default":      {"#define TWICE(x) ((x) + (x))\n", "#ifndef TWICE\n#define TWICE(x) ((x) + (x))\n#endif\n"},
		"included once, not two": {"#include \"tile.cuh\"\n", "#include \"tile.cuh\"\n#include \"tile.cuh\"\n"},
	} {
		assert.Equal(t, was, hashOf(t, strings.Replace(kernel, change[0], change[1], 1), header), what)
	}
	assert.Equal(t, was, hashOf(t, kernel, "// Its words.\n"+header))
	moved := strings.Replace(kernel, "#include \"tile.cuh\"\n", "__device__ float tile(float x) { return x; }\n", 1)
	assert.Equal(t, was, hashOf(t, moved, header), "code that comes from a header is the same code")
}

func TestCodeCounts(t *testing.T) {
	seen := map[string]string{hashOf(t, kernel, header): "as it was"}
	for what, change := range map[string][2]string{
		"a number":             {"2 * threadIdx.x", "4 * threadIdx.x"},
		"the branch of a bit":  {"int i = threadIdx.x;", "int i = threadIdx.y;"},
		"a condition":          {"#if BITS == 8", "#if BITS == 4"},
		"a macro":              {"((x) + (x))", "(2 * (x))"},
		"a default of another": {"#define TWICE(x) ((x) + (x))\n", "#ifndef TWO\n#define TWICE(x) ((x) + (x))\n#endif\n"},
		"another default":      {"#define TWICE(x) ((x) + (x))\n", "#ifndef TWICE\n#define TWICE(x) (3 * (x))\n#endif\n"},
		"a string":             {`"// no comment"`, `"// a comment"`},
		"what is commented":    {"if (i < n) to", "// if (i < n) to"},
		"a header of the tool": {"<cuda_fp16.h>", "<cuda_bf16.h>"},
		"a type":               {"const float *from", "float *from"},
	} {
		sum := hashOf(t, strings.Replace(kernel, change[0], change[1], 1), header)
		assert.Empty(t, seen[sum], what)
		seen[sum] = what
	}
	assert.Empty(t, seen[hashOf(t, kernel, strings.Replace(header, "return x", "return -x", 1))])
}

// TestEveryFileOfEverySolutionCounts changes each file that a rubric names, in a copy: the hash of the solution is another
// then, and the same with a comment more.
func TestEveryFileOfEverySolutionCounts(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	changed := 0
	for _, task := range tasks {
		files, err := filesOf(root, task, "")
		require.NoError(t, err)
		if len(files) == 0 {
			require.Empty(t, task.Files, task.Dir)
			continue
		}
		was, err := hash(root, files)
		require.NoError(t, err)
		for i, f := range files {
			with := func(text string) string {
				other := append([]gate.File{}, files...)
				other[i].Data = append([]byte(text), f.Data...)
				sum, err := hash(root, other)
				require.NoError(t, err)
				return sum
			}
			assert.Equal(t, was, with("// Another comment.\n"), "%s/%s", task.Dir, f.Name)
			if filepath.Ext(f.Name) == ".cuh" && !strings.Contains(included(files), `"`+f.Name+`"`) {
				continue // a stub that no kernel includes
			}
			assert.NotEqual(t, was, with("int another;\n"), "%s/%s", task.Dir, f.Name)
			changed++
		}
	}
	assert.Greater(t, changed, 30)
}

func included(files []gate.File) (all string) {
	for _, f := range files {
		all += string(f.Data)
	}
	return all
}

// TestVersionsAndModelsHaveHashes: of each, and versions differ from each other.
func TestVersionsAndModelsHaveHashes(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	o, err := Read(root, tasks)
	require.NoError(t, err)
	versions := 0
	for _, task := range tasks {
		seen := map[string]string{}
		for _, name := range append(build.Versions(root, task), "") {
			sum := o.Solution(task.Name, name)
			assert.Len(t, sum, 12)
			assert.Empty(t, seen[sum], "task %s: version %q is that one, too", task.Name, name)
			seen[sum] = name + "."
			versions++
		}
	}
	assert.Greater(t, versions, 40)
	assert.Len(t, o.Model("6"), 12)
	assert.NotEqual(t, o.Model("6"), o.Model("7"))
	assert.Len(t, o.Model("b9"), 12)
	assert.Empty(t, o.Solution("77", ""))
}

// TestOtherMachinesHaveTheSameHashes: the hash of a text that never changes is written down here.
func TestOtherMachinesHaveTheSameHashes(t *testing.T) {
	dir := t.TempDir()
	for _, h := range headers {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, h), 0o755))
	}
	sum, err := hash(dir, []gate.File{{Name: "kernels.cu", Data: []byte(kernel)}, {Name: "tile.cuh", Data: []byte(header)}, {Name: "a.go", Data: []byte("package a // b\n")}})
	require.NoError(t, err)
	assert.Equal(t, "a6465c905804", sum)
}
