package student

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// Every handout's hints are numbered from 1 on, and none is lost on the way; each puzzle of the warm-up has its own.
func TestEveryHandoutHasHints(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	tasks, err = rubric.WithWarmUp(root, tasks)
	require.NoError(t, err)
	require.Greater(t, len(tasks), 10)
	for _, task := range tasks {
		page, err := os.ReadFile(filepath.Join(root, task.Dir, "README.md"))
		require.NoError(t, err)
		hints := hintsOf(string(page))
		assert.NotEmpty(t, hints, task.Dir)
		folded := strings.Count(string(page), "<summary>Hint<") + len(ordered.FindAllString(summaries(string(page)), -1))
		assert.Len(t, hints, folded, task.Dir)
		for i, h := range hints {
			assert.Equal(t, strconv.Itoa(i+1), h.number, "%s: %s", task.Dir, h.title)
			said, err := pick(hints, h.number)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(said, h.number+". "+h.title+"\n\n") && len(said) > 60, said)
			assert.NotContains(t, said, "<", "%s: a terminal shows no HTML", task.Dir)
			assert.NotContains(t, said, "](", task.Dir)
		}
		if !task.Name.WarmUp() {
			continue
		}
		require.Len(t, hints, len(task.Checks))
		for i, c := range task.Checks {
			assert.Equal(t, c.Title, hints[i].number+" "+hints[i].title, "'Next:' sends to a hint by the number in the check's title")
		}
	}
}

// summaries lists the text of a page's <summary> elements, one to a line.
func summaries(page string) (all string) {
	for _, m := range details.FindAllStringSubmatch(page, -1) {
		all += m[1] + "\n"
	}
	return all
}

func TestHints(t *testing.T) {
	page := "## 1. Map\n<details><summary>Hint</summary>\n\nNo loop.\n\n</details>\n## Other\n<details><summary>2. Guard</summary>\n\n" +
		"See ![a thread](../docs/x.svg).\n\n</details>\n<details><summary>By the way</summary>\n\nNot one.\n\n</details>\n"
	hints := hintsOf(page)
	said, err := pick(hints, "")
	require.NoError(t, err)
	assert.Equal(t, "  1. Map\n  2. Guard\n", said)
	said, err = pick(hints, "2")
	require.NoError(t, err)
	assert.Equal(t, "2. Guard\n\nSee (a drawing, docs/x.svg: a thread).\n", said)
	_, err = pick(hints, "3")
	assert.EqualError(t, err, `has no hint "3", only HINT=1 to 2`)
	_, err = pick(nil, "")
	assert.EqualError(t, err, "has no hints")
}
