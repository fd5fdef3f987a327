package trial

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

func allTasks(t *testing.T) (root string, tasks []*rubric.Task) {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err = rubric.LoadAll(root)
	require.NoError(t, err)
	tasks, err = rubric.WithWarmUp(root, tasks)
	require.NoError(t, err)
	return root, tasks
}

// TestEveryOneFits: each is read, and its edits quote its base; none is where nobody looks.
func TestEveryOneFits(t *testing.T) {
	root, tasks := allTasks(t)
	read := 0
	for kind, least := range map[string]int{Mutants: 130, Timing: 10, Exploits: 75, Honest: 35} {
		all, err := Load(root, kind, tasks...)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(all), least, kind)
		read += len(all)
		for _, s := range all {
			made, err := s.Made(root)
			require.NoError(t, err, kind)
			base, err := Specimen{Task: s.Task, Base: s.Base}.Made(root)
			require.NoError(t, err)
			assert.True(t, len(s.Links) > 0 || !assert.ObjectsAreEqual(base, made), "%s changes nothing", s.Name)
		}
	}
	there := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "grader", "trial", "specimens"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			there++
		}
		return err
	}))
	assert.Equal(t, read, there, "files that are no specimen of a task: want KIND/TASK/NAME.toml")
}

// TestTodaysSolutionsAreBases: else no mutant would show that mistakes in them are found.
func TestTodaysSolutionsAreBases(t *testing.T) {
	root, tasks := allTasks(t)
	for _, task := range tasks {
		frozen, err := filepath.Glob(filepath.Join(Bases(root, task.Dir), "*"))
		require.NoError(t, err)
		is := len(task.Files) == 0
		for _, base := range frozen {
			same := true
			for _, name := range task.Files {
				today, err := os.ReadFile(filepath.Join(root, task.Dir, "solution", name))
				require.NoError(t, err)
				then, err := os.ReadFile(filepath.Join(base, name))
				same = same && err == nil && bytes.Equal(today, then)
			}
			is = is || same
		}
		to := "grader/trial/_bases/" + task.Dir + "/NAME"
		assert.True(t, is, "%s/solution is not among the bases. Freeze it under a new name, and give it its own mutants:\n"+
			"    mkdir %s && (cd %s/solution && cp %s ../../%s)", task.Dir, to, task.Dir, strings.Join(task.Files, " "), to)
	}
}

// TestWhatIsWrongInASpecimenIsNamed with its file and its key.
func TestWhatIsWrongInASpecimenIsNamed(t *testing.T) {
	root := t.TempDir()
	task := &rubric.Task{Name: "9", Dir: "task9_x", Files: []string{"k.cu"}, Checks: []rubric.Check{{ID: "sum"}}}
	write := func(name, text string) {
		path := filepath.Join(root, "grader", "trial", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("_bases/task9_x/plain/k.cu", "one two two")
	const head, edit = "about = \"a\"\nbase = \"plain\"\nfate = \"loses\"\n", "[[edit]]\nfile = \"k.cu\"\nfind = \"%s\"\nreplace = \"three\"\n"
	lose, good := "lose = [\"sum safety\"]\n", fmt.Sprintf(edit, "one")
	for text, want := range map[string]string{
		head + lose + "verdict = 1\n" + good:                     `unknown key "verdict"`,
		head + lose + "says = 1\n" + good:                        "says",
		strings.Replace(head, "about", "never", 1) + lose + good: "never",
		strings.Replace(head, `"a"`, `""`, 1) + lose + good:      "about: what is it?",
		strings.Replace(head, "loses", "full", 1) + lose + good:  `fate: "full" is none of ["loses"]`,
		strings.Replace(head, "plain", "other", 1) + lose + good: `base: there is no "other" in ` + Bases(root, "task9_x"),
		head + good: "lose: which points?",
		head + lose: "edit: nothing is changed",
		head + "lose = [\"product safety\"]\n" + good: `lose: the task has no part "product safety"`,
	} {
		write("specimens/mutants/task9_x/a.toml", text)
		_, err := Load(root, Mutants, task)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "task9_x/a.toml: ")
	}
	for text, want := range map[string]string{
		fmt.Sprintf(edit, "two"):                     `"two" occurs 2 times in the base's k.cu, want once`,
		strings.Replace(good, "k.cu", "other.cu", 1): "edit: the base has no file other.cu",
		"[files]\n\"other.cu\" = \"\"\n":             "files: the base has no file other.cu",
	} {
		write("specimens/mutants/task9_x/a.toml", head+lose+text)
		s, err := Find(root, Mutants, task, "a")
		require.NoError(t, err)
		_, err = s.Made(root)
		assert.ErrorContains(t, err, "a: ")
		assert.ErrorContains(t, err, want)
	}
	write("specimens/mutants/task9_x/a.toml", head+lose+good+"[files]\n\"k.cu\" = \"one whole file\"\n")
	s, err := Find(root, Mutants, task, "a")
	require.NoError(t, err)
	made, err := s.Made(root)
	require.NoError(t, err)
	assert.Equal(t, "three whole file", string(made[0].Data), "edits come after whole files")
	_, err = Find(root, Mutants, task, "../../x")
	assert.ErrorContains(t, err, `task 9 has no mutant "../../x"; it has a`)
}

// A base of one task's own takes the whole one of those that it uses.
func TestBasesOfTheTasksThatAreUsed(t *testing.T) {
	root := t.TempDir()
	task := &rubric.Task{Dir: "task9_x", Used: []*rubric.Task{{Dir: "task2_x"}, {Dir: "task4_x"}}}
	for _, dir := range []string{Whole, "plain"} {
		require.NoError(t, os.MkdirAll(filepath.Join(Bases(root, "task4_x"), dir), 0o755))
	}
	assert.Equal(t, []string{Bases(root, "task9_x") + "/plain", Bases(root, "task2_x") + "/" + Whole, Bases(root, "task4_x") + "/plain"},
		Specimen{Task: task, Base: "plain"}.bases(root))
}

func TestSubmissionHoldsTheTasksThatAreUsed(t *testing.T) {
	root := t.TempDir()
	used := &rubric.Task{Dir: "task2_x", Files: []string{"a.go"}}
	task := &rubric.Task{Dir: "task3_y", Uses: []registry.Name{"2"}, Used: []*rubric.Task{used}}
	for _, f := range []string{"task2_x/a.go", "task2_x/helper.go", "task3_y/source.go"} {
		path := filepath.Join(root, f)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	dir := t.TempDir()
	files := []gate.File{{Task: "task2_x", Name: "a.go", Data: []byte("package x // old\n")}}
	mutant := Specimen{Name: "m", Task: task, Edits: []Edit{{File: "task2_x/a.go", Find: "old", Replace: "new"}}}
	files, err := mutant.change(files)
	require.NoError(t, err)
	o, extra, err := build.Submission(root, task, files, dir)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"task2_x/helper.go", "task3_y/source.go"}, extra)
	copied, err := os.ReadFile(o[filepath.Join(root, "task2_x", "a.go")])
	require.NoError(t, err)
	assert.Equal(t, "package x // new\n", string(copied))
	_, _, err = build.Submission(root, task, []gate.File{{Task: "task3_y", Name: "a.go"}}, dir)
	assert.ErrorContains(t, err, "not among the files")
}
