package rooms

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// most lines of a kernel file: what a reader can take in.
const most = 300

// TestSolutionsAreShortEnoughToRead: those of variants, too. Earlier versions stay as they are.
func TestSolutionsAreShortEnoughToRead(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	looked := 0
	for _, task := range tasks {
		for _, dir := range []string{task.Dir, rubric.VariantDir(task.Dir, "*")} {
			files, err := filepath.Glob(filepath.Join(root, dir, "solution", "*.cu*"))
			require.NoError(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				name, err := filepath.Rel(root, file)
				require.NoError(t, err)
				assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), most, "lines of %s: split it by kind of kernel", name)
				looked++
			}
		}
	}
	assert.Greater(t, looked, 15)
}

var (
	linesTable = regexp.MustCompile(`(?m)^\| file \| lines \|.*\n\|.*\n((?:\|.*\n)+)`)
	linesRow   = regexp.MustCompile("(?m)^\\| ((?:`[^`]+`(?:, )?)+) \\| ([\\d, ]+) \\|")
)

// TestTablesOfLinesAreRight: what a solution's notes say of the length of its files.
func TestTablesOfLinesAreRight(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	notes, err := filepath.Glob(filepath.Join(root, "*", "*", "solution", "README.md"))
	require.NoError(t, err)
	looked := 0
	for _, note := range notes {
		text, err := os.ReadFile(note)
		require.NoError(t, err)
		for _, table := range linesTable.FindAllSubmatch(text, -1) {
			for _, row := range linesRow.FindAllSubmatch(table[1], -1) {
				names, said := strings.Split(string(row[1]), ", "), strings.Split(string(row[2]), ", ")
				require.Len(t, said, len(names), "%s: %s", note, row[0])
				for i, name := range names {
					file, err := os.ReadFile(filepath.Join(filepath.Dir(note), strings.Trim(name, "`")))
					require.NoError(t, err, note)
					assert.Equal(t, said[i], strconv.Itoa(bytes.Count(file, []byte("\n"))), "%s: lines of %s", note, name)
					looked++
				}
			}
		}
	}
	assert.Greater(t, looked, 20)
}
