package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"flashlab/device"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/peers"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// reportRuns is smaller than the number of runs that are scored: no points depend on a report.
const reportRuns = 5

// reports measures what Results.md reports besides the points. What goes wrong here is said in the
// report, and costs nothing; the error is a broken-off run's alone.
func (o Options) reports(ctx context.Context, ready *prepared, p pass, b supervise.Backend, own supervise.Spec, s plan, runs [][]score.Run) (all []verdict.Report, err error) {
	for i, r := range o.Task.Reports {
		if o.Progress != nil {
			o.Progress(i, len(o.Task.Reports), "for Results.md: "+r.Title)
		}
		one := verdict.Report{Title: r.Title}
		switch {
		case r.Kind == rubric.ToldReport:
			o.toldReport(&one, r, s, runs)
		case r.Kind != rubric.TextReport && p.kind != device.CUDA:
			one.Not = "not measured: needs a GPU"
		case !slices.ContainsFunc(runs, anyRight):
			one.Not = "not measured: no case is right yet"
		case r.Kind == rubric.RaceReport:
			err = o.raceReport(ctx, &one, r, ready, own, b)
		case o.Devices.Jail != nil:
			one.Not = "not measured: a model does not run in the sandbox by itself"
		default:
			err = o.modelReport(ctx, &one, r, ready, p)
		}
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		if err != nil {
			one.Not, err = "not measured: "+oneLine(err.Error()), nil
		}
		all = append(all, one)
	}
	return all, nil
}

// toldReport has the rows of a check's answers that are right.
func (o Options) toldReport(to *verdict.Report, r rubric.Report, s plan, runs [][]score.Run) {
	for i, c := range s.Checks {
		op, err := o.Ops.Find(c.Op)
		if c.ID != r.Check || err != nil {
			continue
		}
		for _, one := range runs[i] {
			to.Rows = append(to.Rows, one.Case.Told...)
		}
		to.Columns, to.Text = op.Tells, op.Below
	}
	if len(to.Rows) == 0 {
		to.Not, to.Text = "nothing to tell: no answer of it is right yet", ""
	}
}

func oneLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// raceReport times each row's workload in turns with its baseline and PyTorch.
func (o Options) raceReport(ctx context.Context, to *verdict.Report, r rubric.Report, ready *prepared, own supervise.Spec, b supervise.Backend) (err error) {
	spec, err := ready.timed(own)
	if err != nil {
		return err
	}
	runner := &supervise.Runner{Spec: spec, Backend: b, Limit: TurnTime}
	defer func() {
		if closed := runner.Close(); err == nil {
			err = closed
		}
	}()
	options := race.Options{Ops: o.Ops, Runs: reportRuns, Warm: speedWarm, Pieces: 8, Seed: o.Seed, Name: "yours"}
	test, err := race.Test(ctx, runner, r.Rows[0].Op, options)
	if err != nil {
		return err
	}
	if test.Not != "" {
		return errors.New(test.Not)
	}
	var beside []race.Peer
	torch, absent := peers.StartTorch(ctx, o.Root)
	if absent == nil {
		defer torch.Close()
		beside = append(beside, torch)
	}
	var rows []race.Row
	for _, row := range r.Rows {
		w, err := o.fitting("report", row.Op, row.Ladder, test.Free)
		if err != nil {
			rows = append(rows, race.Row{Workload: race.Workload{Name: row.Title}, Left: err.Error()})
			continue
		}
		largest := w.Name
		if w.Name = row.Title; fmt.Sprint(w.Shape) != fmt.Sprint(row.Ladder[0].Shape) {
			w.Name += "; the largest that fits here: " + largest
		}
		w.Peers = r.Peers
		measured, err := race.Measure(ctx, runner, w, options, beside...)
		if err != nil {
			return err
		}
		rows = append(rows, measured)
	}
	to.Columns, to.Rows = raceTable(rows)
	to.Text = fmt.Sprintf("%s, float32, medians of %d runs in turns; × is how many times as fast yours is", test.Device.Name, reportRuns)
	if absent != nil {
		to.Text += "\nPyTorch is not beside it: " + oneLine(absent.Error())
	}
	return nil
}

// raceTable has a row a workload: its time, and that of each other with the ratio.
func raceTable(rows []race.Row) (columns []string, cells [][]string) {
	columns = []string{"", "yours"}
	at := map[string]int{"yours": 1}
	for _, r := range rows {
		for _, e := range r.Entries {
			if _, known := at[e.Name]; !known {
				at[e.Name], columns = len(columns), append(columns, e.Name)
			}
		}
	}
	for _, r := range rows {
		line := make([]string, len(columns))
		line[0] = r.Name
		for i := range line[1:] {
			line[i+1] = "–"
		}
		if r.Left != "" {
			line[1] = "not measured: " + oneLine(r.Left)
		}
		for i, e := range r.Entries {
			line[at[e.Name]] = raceCell(r, e, i)
		}
		cells = append(cells, line)
	}
	return columns, cells
}

func raceCell(r race.Row, e race.Entry, i int) string {
	switch {
	case e.Wrong != "":
		return "wrong: " + oneLine(e.Wrong)
	case e.Not != "" || e.Stats.N == 0:
		return "not measured: " + oneLine(e.Not)
	case e.Held != "":
		return "not believed: " + oneLine(e.Held)
	}
	text := brief(time.Duration(e.Stats.Median))
	if ratio := r.Ratio(e); i > 0 && ratio.N > 0 {
		text += fmt.Sprintf(", %.2f ×", ratio.Median)
	}
	return text
}

// brief rounds a time to three digits.
func brief(d time.Duration) string {
	for unit := time.Second; unit >= time.Microsecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// simulatedTokens is how many tokens a report writes at most in the simulator, where each takes a second.
const simulatedTokens = 12

// modelReport runs a model on the code of several tasks, as `make e2e` and `make gpt2` do.
func (o Options) modelReport(ctx context.Context, to *verdict.Report, r rubric.Report, ready *prepared, p pass) (err error) {
	if r.Worker != "" {
		ready, err = o.wider(r.Worker, ready)
	}
	var built build.Result
	if err == nil {
		built, err = ready.alone(ctx, p)
	}
	var refused *gate.Error
	var broken *build.Error
	if errors.As(err, &refused) || errors.As(err, &broken) {
		return fmt.Errorf("it runs on your files of other tasks, too, and one of them does not build (make build TASK=%s says more)", r.Worker)
	}
	if err != nil {
		return err
	}
	tokens := r.Tokens
	if p.kind == device.Sim {
		tokens = min(tokens, simulatedTokens)
	}
	args := []string{"e2e", "-device", string(p.kind), "-tokens", fmt.Sprint(tokens), "-json"}
	if r.Kind == rubric.TextReport {
		args = append([]string{"gpt2", "-ref"}, args[1:]...)
	}
	ctx, stop := context.WithTimeout(ctx, modelTime)
	defer stop()
	cmd := o.program(ctx, p, built.Binary, args)
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return fmt.Errorf("it did not end within %v", modelTime)
	}
	if err != nil {
		return fmt.Errorf("%s", oneLine(strings.TrimSpace(words.String())+": "+err.Error()))
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	last := lines[len(lines)-1]
	if r.Kind == rubric.TextReport {
		return textReport(to, last)
	}
	return paceReport(to, string(lines[0]), last)
}

// modelTime is what a model may take: in the simulator, most of a second a token.
const modelTime = 5 * time.Minute

// paceReport reads what `e2e -json` ends with.
func paceReport(to *verdict.Report, model string, line []byte) error {
	var t struct{ First, Each []time.Duration }
	if err := json.Unmarshal(line, &t); err != nil || len(t.First) == 0 || len(t.Each) == 0 {
		return errors.New("the model's last line is no times")
	}
	to.Columns = []string{"", "mean", "median", "of"}
	for _, one := range []struct {
		name  string
		times []time.Duration
		of    string
	}{{"TTFT, time to the first token", t.First, "prompts"}, {"TBT, time between tokens", t.Each, "tokens"}} {
		mean, median := middle(one.times)
		to.Rows = append(to.Rows, []string{one.name, brief(mean), brief(median), fmt.Sprintf("%d %s", len(one.times), one.of)})
	}
	to.Text = model
	return nil
}

func middle(times []time.Duration) (mean, median time.Duration) {
	sorted := slices.Sorted(slices.Values(times))
	for _, t := range sorted {
		mean += t
	}
	return mean / time.Duration(len(sorted)), sorted[len(sorted)/2]
}

// textReport reads what `gpt2 -ref -json` ends with.
func textReport(to *verdict.Report, line []byte) error {
	var t struct{ Beside string }
	if err := json.Unmarshal(line, &t); err != nil || t.Beside == "" {
		return errors.New("the model's last line is no text")
	}
	to.Text = t.Beside
	return nil
}
