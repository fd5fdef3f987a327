package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/sandbox"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/jail"
)

// fewOfThem is how many run where FLASHLAB_ALL is not set: each takes seconds.
const fewOfThem = 3

func TestExploitsGetTheirVerdicts(t *testing.T) { adversaries(t, Exploits, 40) }

func TestTheHonestAreNeitherHeldNorDocked(t *testing.T) { adversaries(t, Honest, 30) }

// adversaries grades every submission of a kind as a stranger's, in the sandbox
// where there is one, and prints what came of them.
func adversaries(t *testing.T, kind string, least int) {
	t.Parallel()
	root := ready(t)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	all, err := Load(root, kind)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), least)
	maker, where := jailHere(t)

	var mu sync.Mutex
	rows := table.NewWriter()
	rows.AppendHeader(table.Row{"submission", "task", "what it does", "verdict", "defence"})
	rows.SortBy([]table.SortBy{{Number: 1}})
	t.Cleanup(func() { t.Log("graded in " + where + "\n" + rows.Render()) })
	ran := 0
	for _, s := range all {
		if s.GPU {
			rows.AppendRow(table.Row{s.Name, s.Task, s.About, "needs a GPU", s.Defence}) // make test-gpu
			continue
		}
		if os.Getenv(allMutants) == "" {
			// What the gate refuses is never built: these are quick.
			if quick := s.Verdict == Refused && strings.HasPrefix(s.Defence, "gate"); !quick {
				if ran++; ran > fewOfThem {
					continue
				}
			}
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			task := taskOf(tasks, s)
			v := gradeAdversary(t, root, task, s, maker)
			judgeAdversary(t, task, s, v)
			mu.Lock()
			defer mu.Unlock()
			rows.AppendRow(table.Row{s.Name, s.Task, s.About, came(v), s.Defence})
		})
	}
}

// jailHere is the sandbox of this machine; without one the submissions run as they
// are, for none of them can do harm beyond the process that it runs in. For the few of a
// quick run there is none: builds in it have a cache of their own, which takes most of a minute to fill.
func jailHere(t *testing.T) (jail.CommandFunc, string) {
	if os.Getenv(allMutants) == "" {
		return nil, "no sandbox: " + allMutants + " is not set"
	}
	box, err := sandbox.Probe("auto")
	if err != nil {
		return nil, "no sandbox: " + err.Error()
	}
	t.Cleanup(box.Close)
	return box.Command, box.Name
}

func gradeAdversary(t *testing.T, root string, task *rubric.Task, s Submission, maker jail.CommandFunc) verdict.Verdict {
	quick := *task
	if s.Verdict != Full { // the honest have the task's own limits
		quick.Limits.Steps = 20_000_000
		quick.Limits.Case = 4
		quick.Limits.Memory = 512
	}
	return gradeAdversaryOn(t, root, &quick, s, run.Devices{Kind: device.Sim, Root: root, Jail: maker})
}

func gradeAdversaryOn(t *testing.T, root string, task *rubric.Task, s Submission, on run.Devices) verdict.Verdict {
	dir := t.TempDir()
	require.NoError(t, s.Write(root, task, dir))
	v, err := run.Task(t.Context(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Submission(root, task, dir), Seed: 42, Only: s.Only,
		Devices: on, Output: filepath.Join(root, "out")})
	require.NoError(t, err, "no submission makes the grader fail")
	return v
}

func judgeAdversary(t *testing.T, task *rubric.Task, s Submission, v verdict.Verdict) {
	text := feedback(v)
	got, most := v.Points()
	switch s.Verdict {
	case Refused:
		assert.NotEmpty(t, v.Refused, text)
	case Zero:
		assert.Empty(t, v.Refused)
		assert.Empty(t, v.Held)
		assert.NotZero(t, most, text)
	case Held:
		assert.NotEmpty(t, v.Held, text)
	case NoGain:
		assert.Empty(t, v.Refused, text)
		for _, lost := range s.Lose {
			p := part(t, v, lost)
			assert.Less(t, p.Score, p.Max-1e-9, "must lose points on %s:\n%s", lost, text)
		}
		if len(s.Lose) == 0 { // harmless: the rest of it is the solution
			assert.True(t, v.Full(), text)
		}
	case Full:
		assert.True(t, v.Full(), text)
		assert.Empty(t, v.Held, text)
	}
	if s.Verdict == Refused || s.Verdict == Zero || s.Verdict == Held {
		assert.Zero(t, got, text)
	}
	for _, says := range s.Says {
		assert.Contains(t, text, says)
	}
	for _, never := range append(s.Never, "\x1b") {
		assert.NotContains(t, text, never)
	}
}

// came is a verdict in a word or two.
func came(v verdict.Verdict) string {
	got, most := v.Points()
	switch {
	case v.Refused != "":
		return "refused"
	case len(v.Held) > 0:
		return "held"
	case v.Full():
		return "full"
	}
	return fmt.Sprintf("%.2f of %.2f", got, most)
}
