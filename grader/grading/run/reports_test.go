package run

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/jail"
)

// ran is an entry whose runs all took so many nanoseconds.
func ran(name string, ns float64) race.Entry {
	times := []float64{ns, ns, ns}
	return race.Entry{Name: name, Times: times, Stats: timing.Describe(times)}
}

func TestATableOfRaces(t *testing.T) {
	rows := []race.Row{
		{Workload: race.Workload{Name: "small"}, Entries: []race.Entry{ran("yours", 27000), ran("cuBLAS", 54000), {Name: "SDPA", Not: "out of memory\nat x"}}},
		{Workload: race.Workload{Name: "huge"}, Left: "the GPU has 8 MB free"},
		{Workload: race.Workload{Name: "large"}, Entries: []race.Entry{{Name: "yours", Wrong: "NaN"}, ran("cuBLAS", 2.5e6), ran("SDPA", 1e6), ran("nn.Multihead", 3e9)}},
		{Workload: race.Workload{Name: "too fast"}, Entries: []race.Entry{{Name: "yours", Times: []float64{1}, Stats: timing.Describe([]float64{1}), Held: "below the roofline"}}},
	}
	columns, cells := raceTable(rows)
	assert.Equal(t, []string{"", "yours", "cuBLAS", "SDPA", "nn.Multihead"}, columns)
	assert.Equal(t, [][]string{
		{"small", "27µs", "54µs, 2.00 ×", "not measured: out of memory", "–"},
		{"huge", "not measured: the GPU has 8 MB free", "–", "–", "–"},
		{"large", "wrong: NaN", "2.5ms", "1ms", "3s"},
		{"too fast", "not believed: below the roofline", "–", "–", "–"},
	}, cells)
}

func TestWhatAModelSaysIsRead(t *testing.T) {
	var r verdict.Report
	require.NoError(t, paceReport(&r, `The model "full"`, []byte(`{"First": [3000000, 1000000, 2000000], "Each": [10000, 20000, 60000]}`)))
	assert.Equal(t, [][]string{{"TTFT, time to the first token", "2ms", "2ms", "3 prompts"}, {"TBT, time between tokens", "30µs", "20µs", "3 tokens"}}, r.Rows)
	assert.Equal(t, `The model "full"`, r.Text)
	assert.ErrorContains(t, paceReport(&r, "", []byte("something else")), "no times")
	require.NoError(t, textReport(&r, []byte(`{"Beside": "a text"}`)))
	assert.Equal(t, "a text", r.Text)
	assert.ErrorContains(t, textReport(&r, []byte("{}")), "no text")
}

func TestWhatCannotBeReportedSaysWhy(t *testing.T) {
	task := &rubric.Task{Reports: []rubric.Report{{Title: "times", Kind: rubric.RaceReport}, {Title: "pace", Kind: rubric.PaceReport}, {Title: "text", Kind: rubric.TextReport},
		{Title: "told", Kind: rubric.ToldReport, Check: "sheet"}}}
	s := plan{Checks: []rubric.Check{{ID: "sheet", Op: "sheet"}}}
	nots := func(o Options, right bool) (all []string) {
		o.Task = task
		o.Ops = judge.Ops{{Name: "sheet", Tells: []string{"a"}, Below: "below"}}
		runs := [][]score.Run{{{Case: verdict.Outcome{Passed: right}}}}
		reports, err := o.reports(context.Background(), nil, pass{kind: device.Sim}, nil, supervise.Spec{}, s, runs)
		require.NoError(t, err)
		for _, r := range reports {
			all = append(all, r.Not)
		}
		return all
	}
	assert.Equal(t, []string{"not measured: needs a GPU", "not measured: needs a GPU", "not measured: no case is right yet", "nothing to tell: no answer of it is right yet"}, nots(Options{}, false))
	boxed := Options{Devices: Devices{Jail: func(context.Context, jail.Program) (*exec.Cmd, error) { return nil, nil }}}
	assert.Contains(t, nots(boxed, true)[2], "sandbox", "a model's program is started only where the grader trusts it")
}

func TestWhatAnswersTell(t *testing.T) {
	o := Options{Ops: judge.Ops{{Name: "sheet", Tells: []string{"", "predicted"}, Below: "below"}, {Name: "other", Tells: []string{"other"}}}}
	s := plan{Checks: []rubric.Check{{ID: "other", Op: "other"}, {ID: "sheet", Op: "sheet"}}}
	row := []string{"all", "3.00"}
	runs := [][]score.Run{{{Case: verdict.Outcome{Told: [][]string{{"not this"}}}}}, {{}, {Case: verdict.Outcome{Told: [][]string{row}}}, {Case: verdict.Outcome{Told: [][]string{row}}}}}
	var r verdict.Report
	o.toldReport(&r, rubric.Report{Check: "sheet"}, s, runs)
	assert.Equal(t, verdict.Report{Columns: []string{"", "predicted"}, Rows: [][]string{row, row}, Text: "below"}, r)
}
