package copies

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

func course(t *testing.T) (root string, l *Library) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	all, err = rubric.WithWarmUp(root, all)
	require.NoError(t, err)
	l, err = Of(root, handin.Names(all))
	require.NoError(t, err)
	return root, l
}

// The course's own solutions, and their earlier versions, are written by the same hands as what it
// ships, and with the same idioms: no honest work is closer to it.
func TestSolutionsAreNoCopies(t *testing.T) {
	root, l := course(t)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	all, err = rubric.WithWarmUp(root, all)
	require.NoError(t, err)
	seen := 0
	for _, task := range all {
		for _, name := range task.Files {
			for _, form := range []string{"solution", "solution/_versions/*", "_variants/*/solution", "."} {
				files, err := filepath.Glob(filepath.Join(root, task.Dir, form, name))
				require.NoError(t, err)
				for _, file := range files {
					data, err := os.ReadFile(file)
					require.NoError(t, err)
					assert.Empty(t, l.Find(name, data), file)
					seen++
				}
			}
		}
	}
	shared, err := filepath.Glob(filepath.Join(root, "*", "solution", "_versions", "*.*"))
	require.NoError(t, err)
	bonus, err := filepath.Glob(filepath.Join(root, "bonus", "*", "solution", "_versions", "*.*"))
	require.NoError(t, err)
	for _, file := range append(shared, bonus...) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Empty(t, l.Find(filepath.Base(file), data), file)
	}
	if _, err := os.Stat(filepath.Join(root, "task2_unfused", "solution")); err == nil {
		assert.Greater(t, seen, 20)
	}
}

var (
	ownName = regexp.MustCompile(`\b[a-z][a-z0-9]*[A-Z]\w*\b`)
	comment = regexp.MustCompile(`(?m)//.*$`)
)

func TestACopyIsFoundRenamedAndAmongOtherCode(t *testing.T) {
	root, l := course(t)
	text, err := os.ReadFile(filepath.Join(root, "nn", "attention.cu"))
	require.NoError(t, err)
	renamed := ownName.ReplaceAllStringFunc(comment.ReplaceAllString(string(text), ""), func(s string) string { return "my" + strings.ToUpper(s) })
	require.NotEqual(t, string(text), renamed)
	found := l.Find("task4_flash/kernels.cu", []byte("__global__ void mine(float *x) { x[0] = 1; }\n"+strings.ReplaceAll(renamed, "\n", "\n\n")))
	require.NotEmpty(t, found)
	assert.Equal(t, "nn/attention.cu", found[0].Of.File)
	assert.Contains(t, found[0].String(), "task4_flash/kernels.cu:")
}

func TestFunctionsOfAFile(t *testing.T) {
	body := strings.Repeat("x = x + 1; ", 20)
	goFile := "package p\n\nimport \"fmt\"\n\nvar table = []int{1, 2}\n\n// F is long.\nfunc F(x int) {\n" + body + "\n}\n\nfunc short() {}\n\nfunc (t T) G(x int) { if x > 0 { " + body + "}\n}\n"
	all := Functions("a.go", []byte(goFile))
	require.Len(t, all, 2)
	assert.Equal(t, []int{8, 10, 14, 15}, []int{all[0].From, all[0].To, all[1].From, all[1].To})
	all = Functions("k.cu", []byte("#include \"x.h\"\nconstexpr int N = 3;\ntemplate <int D>\n__global__ void k(int x)\n{\n"+body+"}\n__device__ float tiny() { return 1; }\n"))
	require.Len(t, all, 1)
	assert.Equal(t, 6, all[0].To)
	assert.Empty(t, Functions("a.go", []byte("}}} func {")), "broken files are no reason to stop")
}

// around stands for blocks around a statement.
const around = "{ { … } }"

// TestWhatDoesNothingHidesNoCopy: each kernel and function that the course ships, with statements in between that do
// nothing.
func TestWhatDoesNothingHidesNoCopy(t *testing.T) {
	root, l := course(t)
	between := map[string][]string{".go": {";", ";;", "{};", "{{};;};"}, ".cu": {";;", " ; /* */ ;", "{}", "{;}", "{{}};", "NOTHING", "NOTHING SEMICOLONS", "BEGIN END", "{ }", around}}
	head := map[string]string{".cu": "#define NOTHING\n# define SEMICOLONS ; ; // none\n#define BEGIN {\n#define END }\n"}
	walked := 0
	put := func(line, noise string) string {
		if line = comment.ReplaceAllString(line, ""); noise == around {
			return "{ {" + line + "} }"
		}
		return line + " " + noise
	}
	for _, f := range l.Functions {
		ext := path.Ext(f.File)
		data, err := os.ReadFile(filepath.Join(root, f.File))
		require.NoError(t, err)
		body := strings.Join(strings.Split(string(data), "\n")[f.From-1:f.To], "\n")
		for _, noise := range between[ext] {
			lines := strings.Split(body, "\n")
			for i, line := range lines {
				plain := strings.TrimSpace(comment.ReplaceAllString(line, ""))
				if ext == ".cu" && strings.HasSuffix(plain, ";") || ext == ".go" && i > 0 && i < len(lines)-1 && (strings.HasSuffix(plain, ")") || strings.HasSuffix(plain, "++")) {
					lines[i] = put(line, noise)
				}
			}
			found := l.Find("task4_flash/kernels"+ext, []byte(head[ext]+strings.Join(lines, "\n")))
			assert.True(t, slices.ContainsFunc(found, func(c Copy) bool { return c.Of.File == f.File && c.Of.From == f.From || c.Share > 0.9 }), "%s:%d with %q", f.File, f.From, noise)
			walked++
		}
	}
	assert.Greater(t, walked, 4000)
	t.Logf("%d copies of %d functions", walked, len(l.Functions))
}
