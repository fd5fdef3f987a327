package rubric

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/grader/tasks/registry"
)

// Kinds of reports.
const (
	RaceReport = "race" // times beside the baseline's and PyTorch's, a row a workload
	PaceReport = "pace" // how fast the model of `make e2e` answers
	TextReport = "text" // what the model of `make gpt2` writes, beside the reference's text
	ToldReport = "told" // what a check's answers say
)

// Report is something that Results.md reports and nobody scores.
type Report struct {
	Title string
	Kind  string
	Peers []string    // of a race: what PyTorch is asked for
	Rows  []ReportRow `toml:"row"` // of a race
	// Tokens are how many a model writes, and Worker is the task whose worker has the model, where it
	// is not the task's own.
	Tokens int
	Worker registry.Name `toml:"timed_in"`
	Check  string        // whose answers are told
}

// ReportRow is a workload of a race.
type ReportRow struct {
	Title  string
	Op     string
	Ladder []Rung `toml:"timed"` // the first that fits in the GPU's free memory
}

func (r Report) validate() error {
	switch {
	case r.Title == "":
		return errors.New("title is missing")
	case !slices.Contains([]string{RaceReport, PaceReport, TextReport, ToldReport}, r.Kind):
		return fmt.Errorf("kind = %q: want %s, %s, %s or %s", r.Kind, RaceReport, PaceReport, TextReport, ToldReport)
	case (r.Kind == RaceReport) != (len(r.Rows) > 0), (r.Kind == ToldReport) != (r.Check != ""), (r.Kind == PaceReport || r.Kind == TextReport) != (r.Tokens > 0):
		return errors.New("a race has rows, each of a workload; what is told is a check's; a model writes tokens")
	}
	for _, row := range r.Rows {
		if row.Title == "" || row.Op == "" || len(row.Ladder) == 0 {
			return fmt.Errorf("row %q: want a title, an op and timed = […]", row.Title)
		}
	}
	return nil
}
