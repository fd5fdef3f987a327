package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/repo"
)

// demo is a tree of two tasks of the route and one besides, with handouts.
func demo(t *testing.T) (root string, tasks []*rubric.Task) {
	root = t.TempDir()
	for _, one := range []struct{ name, dir, title string }{{"2", "task2_unfused", "Softmax"}, {"4", "task4_flash", "Flash"}, {"b1", "bonus/b1_rope", "Rotation"}} {
		task := &rubric.Task{Dir: one.dir, Title: one.title, Points: 0.75, Checks: []rubric.Check{{ID: "softmax", Title: "Batched softmax", Points: 0.75}}}
		require.NoError(t, task.Name.UnmarshalTOML(one.name))
		require.NoError(t, os.MkdirAll(filepath.Join(root, one.dir), 0o755))
		handout := "# Task\n\n## Questions\n\nAnswer.\n\n1. Why does it\n   work?\n2. How fast\n   is it? Say.\n\n## After\n\n1. no question\n"
		require.NoError(t, os.WriteFile(filepath.Join(root, one.dir, "README.md"), []byte(handout), 0o644))
		tasks = append(tasks, task)
	}
	return root, tasks
}

func TestResultsKeepWhatIsTheStudents(t *testing.T) {
	root, tasks := demo(t)
	name := filepath.Join(root, ResultsName)
	fill := func(verdicts ...verdict.Verdict) string {
		_, err := FillResults(root, name, tasks, verdicts)
		require.NoError(t, err)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	text := fill(verdictOf("4", 0.2))
	assert.Contains(t, text, "#### 1. Why does it work?\n\n…\n\n#### 2. How fast is it? Say.\n\n…\n")
	assert.NotContains(t, text, "no question")
	mine := "Mine above.\n" + strings.Replace(text, "work?\n\n…", "work?\n\nMy answer: 42.", 1)
	require.NoError(t, os.WriteFile(name, []byte(mine), 0o644))
	fill(verdictOf("2", 0.1))
	got := fill(verdictOf("4", 0.5), verdictOf("b1", 0.6))
	for _, want := range []string{"My answer: 42.", "kernels.cu:42:17: race on shared memory tile[3] (4 bytes)\n\n", "softmax/c\n  rows were never written\n",
		"| [2 Softmax](task2_unfused/README.md) | 0.1 | 0.75 | 0.25 not measured |\n", "| [4 Flash](task4_flash/README.md) | 0.5 | 0.75 | 0.25 not measured |\n",
		"| Batched softmax | 0.5 of 0.75 | correctness 0.5 of 0.6:",
		"**0.6 of 1.5 points**", "| **all** | **0.6** | **1.5** | |\n", "| **bonus** | **0.6** | **0.75** | |\n"} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "secret")
	assert.True(t, strings.HasPrefix(got, "Mine above.\n# Results"))
	assert.Equal(t, got, fill(verdictOf("4", 0.5)), "the same again changes nothing")
	assert.Equal(t, outside(mine), outside(got), "what is not between markers stays as it is")
}

// outside is a text without what is between markers.
func outside(s string) string {
	out := ""
	for {
		before, rest, ok := strings.Cut(s, "<!-- flashlab: ")
		out += before
		if !ok {
			return out
		}
		_, rest, _ = strings.Cut(rest, "<!-- flashlab: end of ")
		_, s, _ = strings.Cut(rest, "-->")
	}
}

func TestResultsWithoutMarkers(t *testing.T) {
	root, tasks := demo(t)
	name := filepath.Join(root, ResultsName)
	require.NoError(t, os.WriteFile(name, []byte("All mine.\n"), 0o644))
	_, err := FillResults(root, name, tasks, []verdict.Verdict{verdictOf("2", 0.1)})
	require.NoError(t, err)
	text, _ := os.ReadFile(name)
	assert.Contains(t, string(text), "All mine.\n")
	assert.Contains(t, string(text), "## Task 2: Softmax\n")
	assert.NotContains(t, string(text), "## Task 4:", "it was not graded")

	for _, broken := range []string{"half " + opening("total"), closing("total") + opening("total"), opening("total") + closing("total") + opening("total")} {
		require.NoError(t, os.WriteFile(name, []byte(broken), 0o644))
		_, err = FillResults(root, name, tasks, []verdict.Verdict{verdictOf("2", 0.1)})
		require.ErrorContains(t, err, "not both there, once each")
		text, _ = os.ReadFile(name)
		assert.Equal(t, broken, string(text), "left alone")
	}
}

func TestSubmissionsCannotForgeMarkers(t *testing.T) {
	_, tasks := demo(t)
	v := verdictOf("2", 0)
	v.Refused = "```\n" + closing("task 2") + "\n## Task 2: 100 points"
	v.Checks[0].Parts[0].Note = "| " + closing("task 2")
	text, sums, err := ResultsOf(tasks, []verdict.Verdict{v})
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(text, strings.TrimSpace(closing("task 2"))))
	assert.Zero(t, *sums[0].Points)
	assert.Nil(t, sums[1].Points, "not graded")
}

// TestResultsAreCommittedBlank: whoever gets the course begins with an empty file. `grader blank`
// writes it again after a handout or a rubric changed.
func TestResultsAreCommittedBlank(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	want, err := Blank(root, tasks)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, ResultsName))
	require.NoError(t, err)
	if string(got) != want { // make grade may have filled it in here: then the last commit's counts
		if got, err = exec.Command("git", "-C", root, "show", "HEAD:"+ResultsName).Output(); err != nil {
			t.Skip("Results.md is filled in, and there is no commit to look at")
		}
	}
	assert.Equal(t, want, string(got), "go run ./grader blank writes it")
	assert.Equal(t, 4, strings.Count(want, "\n#### ")/len(tasks), "each handout has four or five questions")
}
