package measure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// unchanged is code that nobody has changed.
type unchanged struct{}

func (unchanged) Solution(registry.Name, string) string { return "h" }
func (unchanged) Model(registry.Name) string            { return "h" }

// TestAWholePageHasAllHeadlines: every row that README's table wants is one that the bench times.
func TestAWholePageHasAllHeadlines(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	took := func(name string, ns float64) race.Entry {
		return race.Entry{Name: name, Times: []float64{ns}, Stats: timing.Describe([]float64{ns})}
	}
	var d page.Document
	for _, one := range tasks {
		table, err := bench.Table(one)
		require.NoError(t, err)
		p := page.Part{Task: one.Name}
		for _, w := range table {
			p.Rows = append(p.Rows, race.Row{Workload: w, Kernels: "h", Entries: []race.Entry{took("ours", 2), took("a peer", 3)}})
		}
		for _, m := range models {
			if m.task == one.Name {
				times := []page.Times{{First: []float64{2}, Each: []float64{2}}}
				p.Models = append(p.Models, page.Model{ID: m.id, Kernels: "h", Ours: times, Theirs: times})
			}
		}
		d.Put(p)
	}
	text := d.Headlines(unchanged{})
	assert.NotContains(t, text, "Not shown")
	assert.Equal(t, 2+19, strings.Count(text, "\n|"), "a title, its rule, and 19 lines:\n%s", text)
}
