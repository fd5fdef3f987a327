package measure

import (
	"context"
	"fmt"
	"strconv"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// Thresholds times the workloads that a task's checks are graded by: the solution, what it is marked against, and the
// same in float32. It prints where points would begin and be full if they were to stay at the times at which the
// thresholds in the rubric put them beside float32.
func (b Options) Thresholds(ctx context.Context) (right bool, err error) {
	right = true
	for _, c := range b.Task.Checks {
		if b.Task.Split(c).Speed == 0 {
			continue
		}
		op, err := b.Ops.Find(c.Ladder[0].OpOf(c))
		if err != nil {
			return false, err
		}
		if op.Timed == nil || op.Timed.Wide == "" {
			continue
		}
		row, err := b.graded(ctx, c)
		if err != nil {
			return false, err
		}
		fmt.Print(row.Text(race.SelfTest{}))
		right = right && row.Right()
		if text := thresholds(b.Task.SpeedOf(c), b.Task.Speed32Of(c), row, op.Timed.Wide); text != "" {
			fmt.Printf("\n  task %s, %s:\n%s", b.Task.Name, c.ID, text)
		}
	}
	return right, nil
}

// graded times a check's first workload.
func (b Options) graded(ctx context.Context, c rubric.Check) (row race.Row, err error) {
	rung := c.Ladder[0]
	w, err := race.Of(b.Task.Name, b.Ops, rubric.Workload{Op: rung.OpOf(c), Shape: rung.Shape, Causal: rung.Causal})
	if err != nil {
		return row, err
	}
	r, closed, err := run.Open(ctx, b.Options, turn)
	if err != nil {
		return row, err
	}
	defer closed()
	return race.Measure(ctx, r, w, b.race())
}

// thresholds are those that a rubric has, and those that would stand for the same times as its thresholds beside float32.
func thresholds(now, float32s rubric.Curve, row race.Row, wide string) string {
	if len(row.Entries) < 2 {
		return ""
	}
	ours, base, other := row.Entries[0].Stats, row.Entries[1].Stats, row.Entry(wide)
	if ours.N == 0 || base.N == 0 || other == nil || other.Stats.N == 0 {
		return ""
	}
	ratio := base.Median / other.Stats.Median
	line := func(what string, c rubric.Curve, beside float64) string {
		at := func(threshold float64) string { return race.Microseconds(beside / threshold) }
		return fmt.Sprintf("    %-36s none = %-6g full = %-6g (%s, %s); the solution has %.2f\n", what, c.None, c.Full, at(c.None), at(c.Full), beside/ours.Median)
	}
	return line("the rubric, beside "+row.Entries[1].Name, now, base.Median) +
		line("the rubric, beside "+wide, float32s, other.Stats.Median) +
		line(fmt.Sprintf("the same times (× %.4f)", ratio), rubric.Curve{None: digits2(float32s.None * ratio), Full: digits2(float32s.Full * ratio)}, base.Median)
}

// digits2 rounds to two digits.
func digits2(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64)
	if err != nil {
		return x
	}
	return y
}
