package rooms

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// rows are the cells of the tables in one section of a page.
func rows(t *testing.T, page, section string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, body, ok := strings.Cut("\n"+string(text), "\n## "+section+"\n")
	require.True(t, ok, "%s has no section %q", page, section)
	body, _, _ = strings.Cut(body, "\n## ")
	for _, line := range strings.Split(body, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, cells)
	}
	return all
}

// TestHandoutsAndRouteSayTheRubricsPoints: a student reads the points in three places.
func TestHandoutsAndRouteSayTheRubricsPoints(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	readme := filepath.Join(root, "README.md")
	route := append(rows(t, readme, "The route"), rows(t, readme, "Bonus tracks")...)
	for _, task := range tasks {
		table := rows(t, filepath.Join(root, task.Dir, "README.md"), "Points")
		for _, c := range task.Checks {
			i := slices.IndexFunc(table, func(cells []string) bool { return cells[0] == c.ID || cells[0] == c.Title })
			if assert.GreaterOrEqual(t, i, 0, "%s/README.md: the table of points has no row %q or %q", task.Dir, c.ID, c.Title) {
				if c.Optional {
					assert.Equal(t, "none", table[i][1], "%s/README.md: %s has no points", task.Dir, c.ID)
					continue
				}
				assert.Equal(t, c.Points, number(t, table[i][1]), "%s/README.md: the points of %s", task.Dir, c.ID)
				p := task.Parts(c)
				for name, want := range map[string]float64{"correctness": p.Correctness, "hidden": p.Hidden, "safety": p.Safety, "traffic": p.Traffic, "speed": p.Speed} {
					if at := slices.Index(table[0], name); at >= 0 {
						assert.Equal(t, want, number(t, table[i][at]), "%s/README.md: %s of %s", task.Dir, name, c.ID)
					}
				}
			}
		}
		i := slices.IndexFunc(route, func(cells []string) bool {
			return strings.Contains(strings.Join(cells, "|"), "("+task.Dir+"/README.md)")
		})
		if assert.GreaterOrEqual(t, i, 0, "README.md: neither the route nor a bonus track has a row of %s", task.Dir) {
			row := route[i]
			assert.Equal(t, task.Points, number(t, row[len(row)-1]), "README.md: the points of %s", task.Dir)
			assert.Contains(t, row[len(row)-2], fmt.Sprintf("`make grade TASK=%s`", task.Name), "README.md: the command of %s", task.Dir)
			if !task.Name.Bonus() && len(task.Files) > 0 {
				assert.Equal(t, "`"+strings.Join(task.Files, "`, `")+"`", row[2], "README.md: what one edits of %s", task.Dir)
			}
		}
	}
}

func number(t *testing.T, cell string) float64 {
	t.Helper()
	if cell == "" {
		return 0
	}
	x, err := strconv.ParseFloat(cell, 64)
	require.NoError(t, err)
	return x
}
