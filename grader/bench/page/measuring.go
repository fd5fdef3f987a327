package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"flashlab/grader/bench"
	"flashlab/grader/grading/wire"
	"flashlab/internal/cache"
)

// Mistakes is all of docs/mistakes.json: the effects of measuring wrongly.
type Mistakes struct {
	Date    time.Time
	Commit  string
	Device  string
	Seed    uint64
	Before  State
	After   State
	Peer    string
	Results []bench.Mistake
}

const (
	mistakesJSON  = "mistakes.json"
	measuringPage = "measuring.md"
	markBegin     = "<!-- mistakes:begin -->"
	markEnd       = "<!-- mistakes:end -->"
)

// titles of the mistakes, in the page's order.
var titles = []struct{ slip, title string }{
	{string(wire.NoSync), "no synchronisation"},
	{string(wire.HostClock), "the host's clock"},
	{string(wire.HotCache), "a hot cache"},
	{string(wire.DirtyCache), "a dirty cache"},
	{bench.ColdStart, "a cold start"},
	{bench.OneRun, "one run"},
	{bench.Precision, "unequal precision"},
}

// Write writes the JSON, and the table in dir/measuring.md between its markers.
func (m Mistakes) Write(dir string) error {
	page := filepath.Join(dir, measuringPage)
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	filled, err := m.fill(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	if err := cache.WriteFile(filepath.Join(dir, mistakesJSON), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return cache.WriteFile(page, []byte(filled), 0o644)
}

func (m Mistakes) fill(page string) (string, error) {
	from, to := strings.Index(page, markBegin), strings.Index(page, markEnd)
	if from < 0 || to < from {
		return "", errors.New("the markers " + markBegin + " and " + markEnd + " are not both there, in this order")
	}
	return page[:from+len(markBegin)] + "\n" + m.Table() + page[to:], nil
}

// Table is the text between the markers.
func (m Mistakes) Table() string {
	var s strings.Builder
	var measured []bench.Mistake
	for _, r := range m.Results {
		if r.Not == "" {
			measured = append(measured, r)
		}
	}
	if len(measured) == 0 {
		return "Not measured yet: `make bench MISTAKES=1` on a machine with a GPU fills this in.\n"
	}
	fmt.Fprintf(&s, "%s, driver %s, %s; commit %s, seed %d. Before: %v. After: %v.\n\n", m.Device, known(m.Before.Driver),
		m.Date.UTC().Format("2 January 2006"), known(m.Commit), m.Seed, m.Before, m.After)
	s.WriteString("| mistake | workload | measured rightly | with the mistake | speed-up, rightly | as it would be published | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, t := range titles {
		for _, r := range m.Results {
			switch {
			case r.Slip != t.slip:
			case r.Not != "":
				fmt.Fprintf(&s, "| %s | %s | not measured: %s | | | | |\n", t.title, r.Workload, escape(r.Not))
			default:
				fmt.Fprintf(&s, "| %s | %s | %s | %s | %.2f | %.2f | %s |\n", t.title, r.Workload, span(r.Right), span(r.Wrong), r.RightUp, r.WrongUp, escape(r.Note))
			}
		}
	}
	return s.String()
}
