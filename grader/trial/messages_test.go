package trial

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTypicalMistakesHaveMessages: messages.md judges what a student reads of typical mistakes. Each is a
// mutant that holds the message (says), so that the table cannot praise what nobody is told.
func TestTypicalMistakesHaveMessages(t *testing.T) {
	root, tasks := allTasks(t)
	mutants, err := Load(root, Mutants, tasks...)
	require.NoError(t, err)
	text, err := os.ReadFile("messages.md")
	require.NoError(t, err)
	of, rows := map[string]bool{}, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		name, isRow := strings.CutPrefix(cells[0], " `")
		if !isRow {
			continue
		}
		name = strings.TrimSuffix(name, "`")
		require.Len(t, cells, 5, line)
		i := slices.IndexFunc(mutants, func(s Specimen) bool { return s.Task.Dir+"/"+s.Name == name })
		require.GreaterOrEqual(t, i, 0, "%s is no mutant", name)
		message := strings.TrimSpace(cells[1])
		assert.True(t, slices.ContainsFunc(mutants[i].Says, func(s string) bool { return strings.Contains(s, message) }),
			"%s: %q is in none of what its file says: %q", name, message, mutants[i].Says)
		for _, judged := range cells[2:] {
			assert.NotEmpty(t, strings.TrimSpace(judged), line)
		}
		rows++
		of[string(mutants[i].Task.Name)] = true
	}
	assert.GreaterOrEqual(t, rows, 40)
	for _, task := range []string{"1", "2", "3", "4", "5"} {
		assert.True(t, of[task], "no mistake in task %s", task)
	}
}
