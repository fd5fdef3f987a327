package gradebook

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/verdict"
)

const h100 = "NVIDIA H100, safety and traffic in the simulator"

// timedRubric is task 2 with a check that is timed.
func timedRubric() *rubric.Task {
	t := *byName("2")
	t.Speed = rubric.Curve{None: 0.1, Full: 1}
	t.Checks = slices.Clone(t.Checks)
	t.Checks[0].Ladder = []rubric.Rung{{Shape: []int{4}}}
	t.Checks[0].Cases = []rubric.Case{{Name: "a", Weight: 1, Traffic: true}}
	return &t
}

// contested is an attempt whose softmax is right and has been timed, in the words of package score.
func contested(student, name, device string, ratio float64) *record.Record {
	rc := timedRubric().Checks[0]
	run := score.Run{Case: verdict.Outcome{Name: "a", Passed: true, Weight: 1, Traffic: true, Least: 100, Moved: 150}}
	speed := score.Speed{Not: "needs a GPU", NeedsGPU: true}
	if ratio > 0 {
		speed = score.Speed{Workload: "rows: 4", Baseline: "cuBLAS", Ours: time.Millisecond, Theirs: time.Duration(ratio * 1e6), Ratio: timing.Describe([]float64{ratio, ratio, ratio})}
	}
	v := verdict.Verdict{Task: "2", Device: device, Checks: []verdict.Check{score.Score(timedRubric(), rc, score.Measured{Runs: []score.Run{run}, Speed: speed})}}
	r := attempt(student, 1, "2026-11-09 12:00", record.Task{Name: "2", Key: "k", Files: student, Result: v, Device: device})
	r.Submission.Leaderboard = name
	return r
}

func boards(t *testing.T, change func(*Class), records ...*record.Record) []Leaderboard {
	c := Class{Course: parsed(t, "tasks = [2]\n"), Rubrics: []*rubric.Task{timedRubric()}, Records: records}
	if change != nil {
		change(&c)
	}
	return c.Leaderboards(c.Entries())
}

func lines(l Leaderboard) (all []string) {
	for _, p := range l.Rows {
		all = append(all, fmt.Sprintf("%d %s %s", p.Place, p.Name, Ratio(p.Ratio)))
	}
	return all
}

func TestALeaderboardHasTimesOfOneCard(t *testing.T) {
	all := boards(t, nil, contested("a", "Warp", h100, 0.8), contested("b", "Lane", "NVIDIA H100 (1a2b), safety and traffic in the simulator", 1.25), contested("c", "Tile", "NVIDIA H100", 0.801),
		contested("d", "Bank", "NVIDIA A100, safety and traffic in the simulator", 3), contested("e", "", h100, 9), contested("f", "Sector", "the simulator; "+h100, 0.1),
		contested("g", "Both", h100+"; NVIDIA A100, safety and traffic in the simulator", 5))
	require.Len(t, all, 2)
	assert.Equal(t, []string{"NVIDIA A100", "NVIDIA H100"}, []string{all[0].Card, all[1].Card})
	assert.Equal(t, []string{"1 Bank 3.00"}, lines(all[0]))
	assert.Equal(t, []string{"1 Lane 1.25", "2 Tile 0.80", "2 Warp 0.80", "4 Sector 0.10"}, lines(all[1]), "without those who chose no name, and without one joined from two cards")
	assert.Equal(t, Leaderboard{Task: "2", Check: "softmax", Title: "Unfused: Softmax", By: BySpeed, Card: "NVIDIA H100", Workload: "rows: 4", Baseline: "cuBLAS", Rows: all[1].Rows}, all[1])
	assert.Equal(t, "1ms beside 1.25ms; 1.25 to 1.25", all[1].Rows[0].Says)
}

// Whatever makes a result doubtful or wrong takes it off the board, one thing at a time.
func TestOnlyHonestTimesAreShown(t *testing.T) {
	other := contested("z", "Other", h100, 0.5)
	for name, spoil := range map[string]func(*record.Task, *Class){
		"held":       func(p *record.Task, _ *Class) { p.Result.Held = []verdict.Held{{Check: "softmax", Reason: "r"}} },
		"held whole": func(p *record.Task, _ *Class) { p.Result.Held = []verdict.Held{{Reason: "r"}} },
		"copied":     func(p *record.Task, _ *Class) { p.Result.Copies = []string{"x"} },
		"doubted": func(p *record.Task, _ *Class) {
			p.Result.Checks[0].Part("speed").Doubt = "impossible time"
		},
		"suspect":   func(p *record.Task, _ *Class) { p.Result.Checks[0].Cases[0].Suspect = "s" },
		"wrong":     func(p *record.Task, _ *Class) { p.Result.Checks[0].Cases[0].Passed = false },
		"disagreed": func(p *record.Task, _ *Class) { p.Result.Checks[0].Cases[0].Disagreed = true },
		"a race":    func(p *record.Task, _ *Class) { p.Result.Checks[0].Findings = make([]verdict.Found, 1) },
		"refused":   func(p *record.Task, _ *Class) { p.Result.Refused = "no" },
		"failed":    func(p *record.Task, _ *Class) { p.Failed = "disk full" },
		"no card":   func(p *record.Task, _ *Class) { p.Device = "the simulator" },
		"no time":   func(p *record.Task, _ *Class) { p.Result.Checks[0].Part("speed").NotMeasured = "not measured" },
		"no cases":  func(p *record.Task, _ *Class) { p.Result.Checks[0].Cases = nil },
		"what was timed": func(p *record.Task, _ *Class) {
			p.Result.Checks[0].Part("speed").Note = "1.00 × the speed of something"
		},
		"override": func(_ *record.Task, c *Class) {
			c.Tables.Overrides = []Override{{Student: "a", Task: "2", Check: "softmax", Points: 4}}
		},
		"whole task": func(_ *record.Task, c *Class) {
			c.Tables.Overrides = []Override{{Student: "a", Task: "2", Points: 4}}
		},
		"name": func(_ *record.Task, c *Class) { c.Course.Leaderboard.Refuse = []string{"warp"} },
	} {
		r := contested("a", "Warp", h100, 2)
		all := boards(t, func(c *Class) { spoil(&r.Tasks[0], c) }, r, other)
		require.Len(t, all, 1, name)
		assert.Equal(t, []string{"1 Other 0.50"}, lines(all[0]), name)
	}
	assert.Equal(t, []string{"1 Warp 2.00", "2 Other 0.50"}, lines(boards(t, nil, contested("a", "Warp", h100, 2), other)[0]), "unspoilt it is there")
}

func TestWithoutAGPUALeaderboardCountsBytes(t *testing.T) {
	few, many := contested("a", "Few", "the simulator", 0), contested("b", "Many", "the simulator", 0)
	many.Tasks[0].Result.Checks[0].Cases[0].Moved = 400
	wrong := contested("c", "Wrong", "the simulator", 0)
	wrong.Tasks[0].Result.Checks[0].Cases[0].Passed = false
	all := boards(t, nil, many, few, wrong)
	require.Len(t, all, 1)
	assert.Equal(t, ByTraffic, all[0].By)
	assert.Equal(t, []string{"1 Few 1.50", "2 Many 4.00"}, lines(all[0]))
	all = boards(t, nil, many, few, contested("d", "", h100, 1))
	assert.Empty(t, all, "somebody was timed, so bytes and times are not mixed")
}

func TestANameLastsAsLongAsItsFile(t *testing.T) {
	first, second := contested("a", "Warp", h100, 1), contested("a", "", h100, 1)
	second.Attempt = 2
	c := Class{Course: parsed(t, "tasks = [2]\nattempt = \"best\"\n"), Rubrics: []*rubric.Task{timedRubric()}, Records: []*record.Record{first, second}}
	assert.Empty(t, c.Leaderboards(c.Entries()), "the last attempt has no leaderboard.txt")
	second.Submission.Leaderboard = "Lane"
	assert.Equal(t, []string{"1 Lane 1.00"}, lines(c.Leaderboards(c.Entries())[0]))
	broken := &record.Record{Student: record.Student{ID: "a"}, Attempt: 3, Trouble: "it is empty"}
	c.Records = append(c.Records, broken)
	assert.Equal(t, []string{"1 Lane 1.00"}, lines(c.Leaderboards(c.Entries())[0]), "what cannot be read says nothing")

	second.Group = []record.Student{{ID: "b"}}
	e := grades(c)
	assert.True(t, e["a"].OnBoard())
	assert.False(t, e["b"].OnBoard(), "a group has one line")
	assert.Contains(t, c.Feedback(e["b"]), `as "Lane"`)
}

func TestARefusedNameIsToldItsStudentAlone(t *testing.T) {
	c := Class{Course: parsed(t, "tasks = [2]\n"), Rubrics: []*rubric.Task{timedRubric()}, Records: []*record.Record{contested("s001", "the s002", h100, 1), contested("s002", "Warp", h100, 1), contested("s003", "WARP", h100, 1)}}
	e := grades(c)
	assert.Contains(t, c.Feedback(e["s001"]), "cannot show the name \"the s002\": it looks like another student's id")
	assert.Contains(t, c.Feedback(e["s002"]), `on the class's leaderboard as "Warp"`)
	assert.Contains(t, c.Feedback(e["s003"]), "somebody else in the class chose it")
	assert.Equal(t, []string{"1 Warp 1.00"}, lines(c.Leaderboards(c.Entries())[0]))
}
