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

func TestExploitsMeetTheirFates(t *testing.T) { strangers(t, Exploits) }

func TestTheHonestAreNeitherHeldNorDocked(t *testing.T) { strangers(t, Honest) }

// strangers grades every specimen of a kind as a student's submission, in the sandbox
// where there is one, and prints their results.
func strangers(t *testing.T, kind string) {
	t.Parallel()
	root := ready(t)
	_, tasks := allTasks(t)
	all, err := Load(root, kind, tasks...)
	require.NoError(t, err)
	maker, where := jailHere(t)

	var mu sync.Mutex
	rows := table.NewWriter()
	rows.AppendHeader(table.Row{"submission", "task", "what it does", "verdict", "defence"})
	rows.SortBy([]table.SortBy{{Number: 1}})
	t.Cleanup(func() { t.Log("graded in " + where + "\n" + rows.Render()) })
	ran := 0
	for _, s := range all {
		if s.GPU {
			rows.AppendRow(table.Row{s.Name, s.Task.Name, s.About, "needs a GPU", s.Defence}) // make test-gpu
			continue
		}
		if os.Getenv(allMutants) == "" {
			// What the gate refuses is never built: these are quick.
			if quick := s.Fate == Refused && strings.HasPrefix(s.Defence, "gate"); !quick {
				if ran++; ran > fewOfThem {
					continue
				}
			}
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			specimenOnRecord(t, kind, s, where)
			quick := *s.Task
			if s.Fate != Full { // the honest have the task's own limits
				quick.Limits.Steps = 20_000_000
				quick.Limits.Case = max(6, s.Patience)
				quick.Limits.Memory = 512
			}
			v := handedIn(t, root, &quick, s, run.Devices{Kind: device.Sim, Root: root, Jail: maker})
			judge(t, s, v)
			mu.Lock()
			defer mu.Unlock()
			rows.AppendRow(table.Row{s.Name, s.Task.Name, s.About, came(v), s.Defence})
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

// handedIn grades a specimen as a student's files.
func handedIn(t *testing.T, root string, task *rubric.Task, s Specimen, on run.Devices) verdict.Verdict {
	dir := t.TempDir()
	require.NoError(t, s.Write(root, dir))
	v, err := run.Task(t.Context(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Submission(root, task, dir), Seed: 42, Only: s.Only,
		Devices: on, Output: filepath.Join(root, "out"), Release: "trial"})
	require.NoError(t, err, "no submission makes the grader fail")
	return v
}

// judge holds a verdict against a specimen's fate, and against what it must lose, keep and say.
func judge(t *testing.T, s Specimen, v verdict.Verdict) {
	text := feedback(v)
	got, most := v.Points()
	assert.Equal(t, s.Fate == Refused, v.Refused != "", text)
	switch s.Fate {
	case Refused, Zero, Held:
		assert.Zero(t, got, text)
		assert.Equal(t, s.Fate == Held, len(v.Held) > 0, text)
		assert.True(t, s.Fate != Zero || most > 0, text)
	case Full:
		assert.Empty(t, v.Held, text)
		assert.True(t, v.Full(), text)
	case NoGain: // without anything to lose it is harmless: the rest of it is the solution
		assert.True(t, len(s.Lose) > 0 || v.Full(), text)
	}
	if s.Points != nil {
		assert.InDelta(t, *s.Points, got, 1e-9, text)
	}
	if s.Fate == Refused {
		s.Lose, s.Keep = nil, nil
	}
	for _, lost := range s.Lose {
		p := part(t, v, lost)
		assert.Less(t, p.Score, p.Max-1e-9, "must lose points on %s:\n%s", lost, text)
	}
	for _, kept := range s.Keep {
		p := part(t, v, kept)
		if p.Name == "safety" && strings.HasPrefix(p.Note, "no findings, but ") {
			continue // these points need right cases too; what the mutant must keep is having no findings
		}
		assert.InDelta(t, p.Max, p.Score, 1e-9, "must keep its points on %s:\n%s", kept, text)
	}
	for _, says := range s.Says {
		assert.Contains(t, text, says)
	}
	for _, never := range append(s.Never, "\x1b") {
		assert.NotContains(t, text, never)
	}
}

// part finds "softmax correctness".
func part(t *testing.T, v verdict.Verdict, name string) *verdict.Part {
	t.Helper()
	id, which, _ := strings.Cut(name, " ")
	for _, c := range v.Checks {
		if p := c.Part(which); c.ID == id && p != nil {
			return p
		}
	}
	require.Fail(t, "no such part", name)
	return nil
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
