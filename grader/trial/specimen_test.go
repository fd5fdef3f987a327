package trial

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// TestBasesAreAsTheirHashesSay, so that nobody changes what specimens are made from without seeing it; and each
// task's solution is one, or no mutant would show that mistakes in it are found.
func TestBasesAreAsTheirHashesSay(t *testing.T) {
	root, tasks := allTasks(t)
	for _, task := range tasks {
		bases, err := Bases(root, task)
		require.NoError(t, err)
		for _, b := range bases {
			same, err := b.Same(root)
			require.NoError(t, err)
			assert.True(t, same, "%s/solution has changed, and its base %s with it. This takes its hashes anew, and copies the former text for specimens "+
				"that no longer apply (mend their find first, and nothing is copied):\n    go run ./grader/trial/renew", task.Dir, b.Name)
		}
		mutants, err := Load(root, Mutants, task)
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(mutants, func(s Specimen) bool {
			of, err := s.Bases(root)
			return err == nil && of[0].SHA256 != nil && of[0].Version == ""
		}), "task %s: today's solution is the base of no mutant", task.Name)
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
		strings.Replace(head, "plain", "other", 1) + lose + good: `base: there is no "other" in ` + filepath.Join(root, "grader/trial/_bases/task9_x"),
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

// A task that is used has the base that the specimen names, or what that was copied from, or its solution.
func TestBasesOfTheTasksThatAreUsed(t *testing.T) {
	root := t.TempDir()
	used := []*rubric.Task{{Dir: "task2_x", Files: []string{"a"}}, {Dir: "task4_x", Files: []string{"b"}}, {Dir: "task5_x", Files: []string{"c"}}}
	task := &rubric.Task{Dir: "task9_x", Used: used} // has no files, as task 7
	for _, b := range []Base{{Task: used[0], Name: Whole}, {Task: used[1], Name: Whole}, {Task: used[1], Name: "plain"}, {Task: used[2], Name: "plain_3"}} {
		require.NoError(t, os.MkdirAll(filepath.Dir(b.Path(root)), 0o755))
		require.NoError(t, os.WriteFile(b.Path(root)+".toml", nil, 0o644))
	}
	bases, err := Specimen{Task: task, Base: "plain_3"}.Bases(root)
	require.NoError(t, err)
	var names []string
	for _, b := range bases {
		names = append(names, b.Task.Dir+"/"+b.Name)
	}
	assert.Equal(t, []string{"task2_x/" + Whole, "task4_x/plain", "task5_x/plain_3"}, names)
	_, err = Specimen{Task: task, Base: Whole}.Bases(root)
	assert.ErrorContains(t, err, "task5_x/"+Whole)
	_, err = Specimen{Task: &rubric.Task{Dir: "task9_x", Used: used[:2]}, Base: "palin"}.Bases(root)
	assert.ErrorContains(t, err, `there is no "palin" in `)
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
	files, err := mutant.Change(files)
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
