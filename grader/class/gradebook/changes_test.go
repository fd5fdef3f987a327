package gradebook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// year is a class that is graded again and again into one folder.
type year struct {
	t   *testing.T
	c   Class
	out string
	at  time.Time
}

func newYear(t *testing.T) *year {
	y := &year{t: t, out: t.TempDir(), at: *at("2026-12-01 10:00")}
	y.c = Class{Course: parsed(t, text0+"slip = 1\n[[manual]]\nid = \"q\"\ntask = 1\npoints = 0.5\n"), Rubrics: rubrics, Records: []*record.Record{
		attempt("a", 1, "2026-11-09 12:00", part("1", "x", 1), part("2", "x", 0.5)),
		attempt("b", 1, "2026-11-12 11:00", part("1", "y", 1), part("2", "y", 1)),
	}}
	return y
}

// written makes the next gradebook, and says what has changed: "a 2/softmax 1.5 → 3: why".
func (y *year) written() (all []string) {
	y.at = y.at.Add(time.Hour)
	changes, err := y.c.Changes(y.c.Entries(), y.out, y.at)
	require.NoError(y.t, err)
	for _, c := range changes {
		all = append(all, strings.TrimSuffix(strings.Join([]string{c.Student, c.Check, c.Before, "→", c.After + ":", c.Why}, " "), ": "))
	}
	return all
}

// Whatever can change a grade is done once, and the list names the check, both numbers and the reason.
func TestEachChangeIsListedWithItsReason(t *testing.T) {
	const softmax = "a 2/softmax 1.5 → 3: "
	for name, one := range map[string]struct {
		do   func(*year)
		want []string
	}{
		"nothing": {func(*year) {}, nil},
		"another attempt": {func(y *year) {
			r := attempt("a", 2, "2026-11-10 11:00", part("1", "x", 1), part("2", "z", 1))
			r.Submission.SHA256 = strings.Repeat("cd", 32)
			y.c.Records = append(y.c.Records, r)
		}, []string{softmax + "attempt 2 counts now (receipt cdcd cdcd cdcd); before, attempt 1 (abab abab abab)", "a all 3.5 → 5"}},
		"an override": {func(y *year) {
			y.c.Tables.Overrides = []Override{{Student: "a", Task: "2", Check: "softmax", Points: 3, Reason: "shown", By: "kt"}}
		}, []string{softmax + "set to 3 by kt: shown", "a all 3.5 → 5"}},
		"an override of all": {func(y *year) {
			y.c.Tables.Overrides = []Override{{Student: "a", Task: "2", Points: 3, Reason: "shown", By: "kt"}}
		}, []string{"a 2 1.5 → 3: set to 3 by kt: shown", "a all 3.5 → 5"}},
		"a mark": {func(y *year) {
			y.c.Tables.Marks = []Mark{{Student: "a", Item: "q", Points: 0.5, By: "kt"}}
		}, []string{"a 1/q  → 0.5: marked by kt", "a all 3.5 → 4"}},
		"graded again": {func(y *year) {
			y.c.Records[0].Tasks[1] = part("2", "x", 1)
			y.c.Records[0].Tasks[1].Key = "another"
		}, []string{softmax + "graded again", "a all 3.5 → 5"}},
		"on a GPU": {func(y *year) {
			y.c.Records[0].Tasks[1] = part("2", "x", 1)
			y.c.Records[0].Tasks[1].Device = "NVIDIA H100"
		}, []string{softmax + "graded on NVIDIA H100; before, on ", "a all 3.5 → 5"}},
		"held": {func(y *year) {
			y.c.Records[0].Tasks[1].Result.Held = []verdict.Held{{Check: "softmax", Reason: "r"}}
		}, []string{"a 2/softmax 1.5 → : held: awaits a person", "a all 3.5 → 2"}},
		"failed": {func(y *year) {
			y.c.Records[0].Tasks[1].Failed = "disk full"
		}, []string{"a 2/softmax 1.5 → : grading failed, through no fault of the submission", "a all 3.5 → 2"}},
		"other points": {func(y *year) {
			y.c.Rubrics = []*rubric.Task{rubrics[0], {Name: "2", Dir: "task2_unfused", Title: "Unfused", Points: 8, Shares: rubrics[1].Shares, Checks: []rubric.Check{{ID: "softmax", Title: "Softmax", Points: 8}}}}
		}, []string{"a 2/softmax 1.5 → 3: the check has other points: of 6, before of 3", "a all 3.5 → 5", "b 2/softmax 3 → 6: the check has other points: of 6, before of 3", "b all 4.3 → 7"}},
		"an extension": {func(y *year) {
			y.c.Tables.Extensions = []Extension{{Student: "b", Task: "2", Until: *at("2026-11-20 12:00")}}
		}, []string{"b 1 1.6 → 1.8: 2 days late, 1 slip day spent; before, 2 days late", "b 2 2.7 → 3: due 2026-11-20 12:00 UTC; before, 2026-11-10 12:00 UTC", "b all 4.3 → 4.8"}},
		"fewer slip days": {func(y *year) { y.c.Course.Late.Slip = 0 }, []string{"b 2 2.7 → 2.4: 2 days late; before, 2 days late, 1 slip day spent", "b all 4.3 → 4"}},
		"a new student": {func(y *year) {
			y.c.Records = append(y.c.Records, attempt("c", 1, "2026-11-09 12:00", part("1", "c", 1)))
		}, []string{"c 1/split  → 1: handed in", "c 1/merge  → 1: handed in", "c all  → 2: new in the gradebook"}},
		"one less": {func(y *year) { y.c.Records = y.c.Records[:1] }, []string{"b all 4.3 → : no longer in the gradebook"}},
	} {
		y := newYear(t)
		assert.Empty(t, y.written(), "the first gradebook has nothing to compare with")
		one.do(y)
		got := y.written()
		assert.Equal(t, one.want, got, name)
		assert.Empty(t, y.written(), "%s: a change is told once", name)
		_, rows, err := intake.ReadTable(filepath.Join(y.out, ChangesName))
		require.NoError(t, err)
		require.Len(t, rows, len(got), name)
		for _, r := range rows {
			assert.Equal(t, []string{"2", "2026-12-01 12:00 UTC"}, []string{r.Get("run"), r.Get("when")}, name)
		}
		last, err := LastChanges(y.out)
		require.NoError(t, err)
		assert.Len(t, last, len(got), name)
	}
}

func TestChangesOfAllRunsAreKept(t *testing.T) {
	y := newYear(t)
	y.written()
	for _, points := range []float64{1, 2, 2, 3} {
		y.c.Tables.Overrides = []Override{{Student: "a", Task: "2", Check: "softmax", Points: points, Reason: "r", By: "kt"}}
		y.written()
	}
	_, rows, err := intake.ReadTable(filepath.Join(y.out, ChangesName))
	require.NoError(t, err)
	var runs []string
	for _, r := range rows {
		if r.Get("check") != "all" {
			runs = append(runs, r.Get("run")+": "+r.Get("after"))
		}
	}
	assert.Equal(t, []string{"2: 1", "3: 2", "4: 3"}, runs)
	// What was interrupted between the two files is mended by the next run.
	require.NoError(t, os.Remove(filepath.Join(y.out, ChangesName)))
	y.written()
	_, again, err := intake.ReadTable(filepath.Join(y.out, ChangesName))
	require.NoError(t, err)
	assert.Len(t, again, len(rows))

	require.NoError(t, os.WriteFile(filepath.Join(y.out, gradesName), []byte("{"), 0o644))
	_, err = y.c.Changes(y.c.Entries(), y.out, y.at)
	assert.ErrorContains(t, err, "is damaged")
}
