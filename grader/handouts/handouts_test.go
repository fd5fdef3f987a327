package handouts

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/fates"
	"flashlab/internal/repo"
)

func handouts(t *testing.T) (root string, tasks []*rubric.Task) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err = rubric.LoadAll(root)
	require.NoError(t, err)
	tasks, err = rubric.WithWarmUp(root, tasks)
	require.NoError(t, err)
	require.NotEmpty(t, rooms.Ops)
	return root, tasks
}

// TestQuotesAreMarked: what looks like a program's output in a handout is made by its command.
func TestQuotesAreMarked(t *testing.T) {
	root, tasks := handouts(t)
	quotes := 0
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(root, task.Dir, "README.md"))
		require.NoError(t, err)
		lines, err := Unmarked(string(text))
		require.NoError(t, err, task.Dir)
		assert.Empty(t, lines, "%s/README.md: a command's output without <!-- prints: … --> before it", task.Dir)
		all, err := Quotes(string(text))
		require.NoError(t, err)
		quotes += len(all)
	}
	assert.GreaterOrEqual(t, quotes, 50)
}

// TestHandoutsShowWhatIsPrinted runs each command that a handout quotes, in a students' tree.
func TestHandoutsShowWhatIsPrinted(t *testing.T) {
	if os.Getenv(fates.All) == "" || os.Getenv(fates.Fresh) == "" {
		t.Skip("make test-all FRESH=1 runs what handouts quote: some five minutes")
	}
	root, tasks := handouts(t)
	released := sync.OnceValues(func() (*Tree, error) { return Make(t.Context(), root, t.TempDir()) })
	for _, task := range tasks {
		t.Run(task.Dir, func(t *testing.T) {
			name := path.Join(task.Dir, "README.md")
			tree, err := released()
			require.NoError(t, err)
			page, err := tree.Page(name)
			require.NoError(t, err)
			now, err := tree.Renewed(t.Context(), task, page)
			require.NoError(t, err)
			assert.Equal(t, page, now, "%s quotes what is printed no longer: make handouts TASK=%s", name, task.Name)
			for _, p := range Pictures {
				if p.Task == task.Name {
					was, err := tree.Page(p.File)
					require.NoError(t, err)
					drawn, err := tree.Draw(t.Context(), task, p)
					require.NoError(t, err)
					assert.Equal(t, was, drawn, "%s shows what is printed no longer: make handouts TASK=%s", p.File, task.Name)
				}
			}
		})
	}
}

const page = `# A page

<!-- prints: make grade TASK=2 SEED=7 | solution | ✓ A → Task 2; …; end -->

    make grade TASK=2

     ✓ A   1 of 1 (0.05s)

    Task 2: 1 of 1 points
    …
    the end

And more.
`

func TestRenewed(t *testing.T) {
	saying := func(said string) func(Quote) (string, error) {
		return func(q Quote) (string, error) {
			assert.Equal(t, "make grade TASK=2 SEED=7", q.Command)
			assert.Equal(t, "solution", q.Whose)
			return said, nil
		}
	}
	lines, err := Unmarked(page)
	require.NoError(t, err)
	assert.Empty(t, lines)

	same, err := Renewed(page, saying("setup\n ✓ A   1 of 1 (2.75s)\n\nTask 2: 1 of 1 points\nWritten\nthe end\n"))
	require.NoError(t, err)
	assert.Contains(t, same, "(0.05s)", "only a time has changed")

	now, err := Renewed(page, saying("setup\n ✗ B\n ✓ A   2 of 2 (2.75s)\nTask 2: 2 of 2 points\nWritten\nthe end\n"))
	require.NoError(t, err)
	assert.Contains(t, now, "    make grade TASK=2\n\n     ✓ A   2 of 2 (2.75s)\n    Task 2: 2 of 2 points\n    …\n    the end\n")
	assert.NotContains(t, now, "✗ B")
	assert.True(t, strings.HasSuffix(now, "\nAnd more.\n"))

	_, err = Renewed(page, saying("nothing of it"))
	assert.ErrorContains(t, err, `line 3: make grade TASK=2 SEED=7: no line with "✓ A" in what it prints`)
	_, err = Renewed(page, func(Quote) (string, error) { return "", errors.New("no make") })
	assert.ErrorContains(t, err, "line 3: no make")
}

func TestAPictureEscapesWhatItShows(t *testing.T) {
	svg := drawn([]string{indent + "$ make <x>", "", indent + " ✓ a & b", indent + "✗ c"})
	assert.Contains(t, svg, `<text x="18" y="32" font-weight="bold" fill="#ffffff">$ make &lt;x&gt;</text>`)
	assert.Contains(t, svg, `fill="#57ab5a"> ✓ a &amp; b<`)
	assert.Contains(t, svg, `fill="#f47067">✗ c<`)
	assert.Equal(t, 3, strings.Count(svg, "<text "))
}

func TestPagesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"<!-- prints: make -->\n\n    x\n":                      "line 1: want <!-- prints:",
		"a\n<!-- prints: make | nobody | x -->\n\n    x\n":      "line 2: want <!-- prints:",
		"<!-- prints: make | stub | x -->\n\nNo block here.\n":  "line 1: no block of output follows",
		"<!-- prints: make | mutant a b | x -->\n\n    block\n": "line 1: want <!-- prints:",
	} {
		_, err := Quotes(text)
		assert.ErrorContains(t, err, want, text)
	}
	lines, err := Unmarked("Some text:\n\n     ✓ A   1 of 1\n\n    x = 1\n\nMore:\n\n    x = 2\n")
	require.NoError(t, err)
	assert.Equal(t, []int{3}, lines)
}

// TestAMutantIsLaid: a mutant's files lie over all solutions, and nothing of it is left for the stubs.
func TestAMutantIsLaid(t *testing.T) {
	root, tasks := handouts(t)
	tree := &Tree{root: root, folder: t.TempDir(), tasks: tasks, stubs: map[string][]byte{"task2_unfused/kernels.cu": []byte("// stub")}}
	for _, task := range tasks {
		require.NoError(t, os.MkdirAll(filepath.Join(tree.folder, task.Dir), 0o755))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(tree.folder, filepath.Dir(ofSolutions)), 0o755))
	task, err := rubric.Load(root, "2")
	require.NoError(t, err)
	read := func(name string) string {
		text, err := tree.Page(name)
		require.NoError(t, err)
		return text
	}
	require.NoError(t, tree.lay(task, "solution"))
	solved := read("task2_unfused/kernels.cu")
	require.NoError(t, tree.lay(task, "mutant missing_barrier"))
	assert.NotEqual(t, solved, read("task2_unfused/kernels.cu"))
	assert.NotEmpty(t, read("bonus/b2_halves/hopper.cu"))
	require.NoError(t, tree.lay(task, "stub"))
	assert.Equal(t, "// stub", read("task2_unfused/kernels.cu"))
	assert.NoFileExists(t, filepath.Join(tree.folder, "bonus/b2_halves/hopper.cu"))
	assert.ErrorContains(t, tree.lay(task, "mutant unknown"), "mutant unknown")
	said, err := tree.print(context.Background(), "echo printed; echo wrong >&2; exit 1")
	require.NoError(t, err)
	assert.Equal(t, "printed\nwrong\n", said)
}
