package folder

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/pages"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/repo"
)

// TestEachPublishedSolutionHandedInIsAToDo: in a class of 20 thirteen hand in the published solution of task 4, seven byte for byte,
// one a version of it, one what a release ships, one the solution behind macros; the others have the stub, and two of
// these each other's work.
func TestEachPublishedSolutionHandedInIsAToDo(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, "task4_flash", "solution")); err != nil {
		t.Skip("a tree without solutions")
	}
	task, err := rubric.Find(all, "4")
	require.NoError(t, err)
	solution, err := build.TaskFiles(root, task[0], "task4_flash/solution")
	require.NoError(t, err)
	stub, err := build.TaskFiles(root, task[0], "task4_flash")
	require.NoError(t, err)
	version := map[string][]byte{}
	versions, err := build.VersionFiles(root, task[0], build.Versions(root, task[0])[0])
	require.NoError(t, err)
	for _, f := range versions {
		if build.OfVersions(f) {
			version["task4_flash/"+f.Name] = f.Data
		}
	}
	shipped, err := os.ReadFile(filepath.Join(root, "nn", "attention.cu"))
	require.NoError(t, err)
	own := []byte("__global__ void k(float *x, int n) { for (int i = 0; i < n; i++) { x[i] = x[n - i] * 3.0f + x[i / 2] - float(n); } }\n")
	for n := range 30 {
		own = fmt.Appendf(own, "__device__ float f%d(float a%s) { return a %s (a + %d) * a; }\n", n, strings.Repeat(", float b", n%7), strings.Repeat("* a + ", n%11), n)
	}

	dir := t.TempDir()
	out, submissions := filepath.Join(dir, "out"), filepath.Join(dir, "submissions")
	for i := range 20 {
		files := stub
		switch {
		case i < 7:
			files = solution
		case i < 13:
			files = map[string][]byte{}
			for name, data := range solution {
				files[name] = fmt.Appendf(bytes.Clone(data), "// mine %d\n", i)
			}
		case i == 13:
			files = version
		case i == 14:
			files = map[string][]byte{"task4_flash/attention.go": stub["task4_flash/attention.go"], "task4_flash/kernels.cu": shipped}
		case i < 17:
			files = map[string][]byte{"task4_flash/attention.go": stub["task4_flash/attention.go"], "task4_flash/kernels.cu": own}
		}
		id := fmt.Sprintf("s%02d", i)
		for name, data := range files {
			file := filepath.Join(submissions, id, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, data, 0o644))
		}
		content, err := intake.Read(filepath.Join(submissions, id), intake.WantedOf(all))
		require.NoError(t, err)
		r := &record.Record{Student: record.Student{ID: id}, Attempt: 1, Submission: record.Submission{File: id, SHA256: string(content.Receipt)}}
		if i == 0 || i == 19 { // what the grading found behind macros
			r.Tasks = []record.Task{{Name: "4", Result: verdict.Verdict{Task: "4", Dir: "task4_flash", Like: []verdict.Like{{Of: "task4_flash/solution/kernels.cu:50-90", Share: 0.72}}}}}
		}
		require.NoError(t, record.Write(out, r))
	}
	require.NoError(t, batch.Settings{Version: 1, Submissions: submissions}.Save(out))

	f := Folder{Out: out}
	_, all, settings, err := f.Open()
	require.NoError(t, err)
	class, err := f.Class(all, settings)
	require.NoError(t, err)
	captured(t, func() { require.NoError(t, f.Write(class)) })
	page, err := os.ReadFile(filepath.Join(out, pages.Report))
	require.NoError(t, err)
	text := string(page)
	todo := text[strings.Index(text, `<section id="todo"`):strings.Index(text, `<section id="points"`)]
	row := func(id string) string {
		_, rest, _ := strings.Cut(todo, `<th scope="row">`+id)
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	for i := range 13 {
		assert.Regexp(t, `100 %.*task4_flash/solution<`, row(fmt.Sprintf("s%02d", i)), "however many have it")
	}
	assert.Regexp(t, `100 %.*task4_flash/solution/_versions/`, row("s13"))
	assert.Regexp(t, `100 %.*nn/attention.cu:`, row("s14"))
	assert.Regexp(t, `72 %.*task4_flash/solution/kernels.cu:50-90<`, row("s19"))
	for i := 15; i < 19; i++ {
		assert.Empty(t, row(fmt.Sprintf("s%02d", i)))
	}
	assert.Equal(t, 16, strings.Count(todo, `<th scope="row">`))
	pair := text[strings.Index(text, `<section id="similar"`):]
	assert.True(t, strings.Contains(pair, "s15") && strings.Contains(pair, "s16"), "two who have the same of their own are a pair")
}
