package run

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/preprocess"
	"flashlab/device/sim"
	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/internal/repo"
)

const computing = "that computes"

// hiding are macros that come to nothing, or to statements whose results nobody uses, by each way that a text alone does
// not show; NOISE is one of them.
var hiding = map[string]string{
	"under a condition": "#if defined(__GNUC__) || !defined(THERE)\n#define NOISE\n#else\n#define NOISE more\n#endif\n",
	"defined twice":     "#define NOISE something\n#undef NOISE\n#define NOISE ;\n",
	"by Go":             "",
	"with an argument":  "#define EMPTY(x)\n#define NOISE EMPTY(a + b)\n",
	"by another":        "#define INNER\n#define OUTER INNER INNER\n#define NOISE OUTER\n",
	"in steps":          "#define NOISE INNER\n#define INNER { ; }\n",
	computing:           "#define MORE(x) { int unused = (x) * 3; unused += 1; }\n#define NOISE MORE(7)\n",
}

// TestMacrosHideNoCopy: each kernel that the course ships, with macros between its statements, as the compiler's own
// preprocessor leaves it.
func TestMacrosHideNoCopy(t *testing.T) {
	root, library := libraryOf(t)
	walked, files, left := behindMacros(t, root, library, func(string) bool { return true })
	assert.Zero(t, left)
	assert.GreaterOrEqual(t, walked, files)
	t.Logf("%d copies of kernels in %d files", walked, files)
}

// TestMacrosHideNoSolution: likewise the kernels of the course's solutions, which are a To do for whoever teaches.
func TestMacrosHideNoSolution(t *testing.T) {
	root, _ := libraryOf(t)
	library, err := Options{Root: root}.published()
	require.NoError(t, err)
	if len(library.Functions) == 0 {
		t.Skip("a tree without solutions")
	}
	walked, files, left := behindMacros(t, root, library, func(file string) bool {
		return !strings.Contains(file, "_versions") && !strings.Contains(file, "_variants")
	})
	assert.Greater(t, files-left, 10)
	assert.GreaterOrEqual(t, walked, files-left)
	t.Logf("%d copies of kernels in %d files; %d more have headers elsewhere", walked, files-left, left)
}

// behindMacros looks for each kernel of a library's files behind macros. Left are files that do not compile by themselves.
func behindMacros(t *testing.T, root string, library *copies.Library, wanted func(file string) bool) (walked, files, left int) {
	functions := map[string][]copies.Function{}
	for _, f := range library.Functions {
		if filepath.Ext(f.File) == ".cu" && wanted(f.File) {
			functions[f.File] = append(functions[f.File], f)
		}
	}
	seen := errors.New("enough")
	var lines []preprocess.Line
	d, err := sim.Start(sim.Options{Checks: sim.AllChecks(), Vet: func(p sim.Preprocessed) error { lines = p.Lines; return seen }})
	require.NoError(t, err)
	defer d.Close()
	for n, file := range slices.Sorted(maps.Keys(functions)) {
		data, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		src := device.Source{Name: filepath.Base(file), Files: headersNear(t, root, file), Defines: map[string]string{"BYGO": ""}}
		for i, way := range slices.Sorted(maps.Keys(hiding)) {
			if os.Getenv("FLASHLAB_ALL") == "" && i != n%len(hiding) {
				continue // each file by one way, and each way for some files
			}
			head := strings.ReplaceAll(hiding[way], "NOISE", "BETWEEN")
			src.Text = head + between(string(data), "BETWEEN")
			if hiding[way] == "" {
				src.Text = between(string(data), "BYGO")
			}
			if _, err = d.Compile(src); !errors.Is(err, seen) {
				t.Log(file, way, err)
				left++
				break
			}
			found := library.FindExpanded("task4_flash", lines)
			for _, f := range functions[file] {
				before := strings.Count(head, "\n")
				compiled := slices.ContainsFunc(lines, func(l preprocess.Line) bool { return l.Number-before > f.From && l.Number-before < f.To })
				if !compiled || way == computing && f.Anybodys() {
					continue
				}
				assert.True(t, slices.ContainsFunc(found, func(c copies.Copy) bool { return c.Of.File == f.File && c.Of.From == f.From || c.Share > 0.9 }), "%s:%d %s", f.File, f.From, way)
				walked++
			}
		}
	}
	return walked, len(functions), left
}

// TestNoSolutionIsACopyOncePreprocessed: as the course's own solutions are no copies, they are none as they are compiled;
// nor is what a task's folder has besides.
func TestNoSolutionIsACopyOncePreprocessed(t *testing.T) {
	root, library := libraryOf(t)
	var lines []preprocess.Line
	seen := errors.New("enough")
	d, err := sim.Start(sim.Options{Checks: sim.AllChecks(), Vet: func(p sim.Preprocessed) error { lines = p.Lines; return seen }})
	require.NoError(t, err)
	defer d.Close()
	var files []string
	for _, pattern := range []string{"task*/solution/*.cu", "bonus/*/solution/*.cu", "task*/_variants/*/solution/*.cu", "task*/solution/_versions/*/*.cu", "bonus/*/solution/_versions/*/*.cu"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		files = append(files, names...)
	}
	read := 0
	for i, file := range files {
		if os.Getenv("FLASHLAB_ALL") == "" && i%10 != 0 {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		rel, _ := filepath.Rel(root, file)
		_, err = d.Compile(device.Source{Name: filepath.Base(file), Text: string(text), Files: headersNear(t, root, rel)})
		if errors.Is(err, seen) { // or it lacks a header of another folder
			read++
			assert.Empty(t, library.FindExpanded("task4_flash", lines), rel)
		}
	}
	t.Logf("%d of %d files", read, len(files))
	none := handedIn([]gate.File{{Task: "task2_unfused", Name: "kernels.cu"}}, supervise.Expanded{Folder: "task2_unfused", Lines: []preprocess.Line{{File: "mask.cu"}, {File: "kernels.cu", Number: 7}}})
	assert.Equal(t, []preprocess.Line{{File: "kernels.cu", Number: 7}}, none)
}

// libraryOf is the tree, and what hand-ins are compared with.
func libraryOf(t *testing.T) (string, *copies.Library) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	tasks, err = rubric.WithWarmUp(root, tasks)
	require.NoError(t, err)
	library, err := copies.Of(root, handin.Names(tasks))
	require.NoError(t, err)
	return root, library
}

// between puts a word behind each statement.
func between(text, word string) string {
	var b strings.Builder
	depth := 0
	code := device.BlankNonCode(text)
	for i := range len(code) {
		b.WriteByte(text[i])
		switch code[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ';':
			if depth == 0 {
				b.WriteString(" " + word)
			}
		}
	}
	return b.String()
}

// headersNear are the headers that a file may include, by the names that it has for them.
func headersNear(t *testing.T, root, file string) map[string]string {
	files := map[string]string{}
	dir := filepath.Join(root, filepath.Dir(file))
	for _, pattern := range []string{"*.cuh", "../*.cuh", "../../persistent/*.cuh", "_versions/*.cuh"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			files[filepath.Base(name)] = string(text)
		}
	}
	return files
}
