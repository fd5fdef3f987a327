package rooms

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/rubric"
)

func TestTheProjectsOwnRubricsAreSound(t *testing.T) {
	tasks, err := rubric.LoadAll("../../..")
	require.NoError(t, err)
	tasks, err = rubric.WithWarmUp("../../..", tasks)
	require.NoError(t, err)
	isSound(t, tasks)
	drawn := 0
	for seed := range 200 { // whatever the class's seed is
		for _, task := range tasks {
			before := task.Parts(task.Checks[0])
			task.Draw(fmt.Sprint("class ", seed))
			assert.Equal(t, before, task.Parts(task.Checks[0]), "points are the same for every class")
			for _, c := range task.Checks {
				drawn += len(slices.DeleteFunc(slices.Clone(c.Cases), func(k rubric.Case) bool { return !k.Drawn }))
			}
		}
		isSound(t, tasks)
	}
	assert.Greater(t, drawn, 200*10)
}

func TestTheVariantsRubricsAreSound(t *testing.T) {
	names, err := rubric.Variants("../../..")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		tasks, err := rubric.LoadVariant("../../..", name)
		require.NoError(t, err)
		for seed := range 50 {
			for _, task := range tasks {
				task.Draw(fmt.Sprint("class ", seed))
			}
			isSound(t, tasks)
		}
	}
}

func isSound(t *testing.T, tasks []*rubric.Task) {
	t.Helper()
	for _, task := range tasks {
		require.NoError(t, Ops.Check(task))
		for _, c := range task.Checks {
			op, err := Ops.Find(c.Op)
			require.NoError(t, err)
			for _, k := range c.Cases {
				w, err := op.Case(judge.SpecOf(k), 0, 0)
				require.NoError(t, err)
				if !task.OnDevice() || k.GPU {
					continue
				}
				assert.Less(t, judge.Bytes(w.Inputs, w.Outputs), uint64(1_200_000), "%s, %s/%s: too much for the simulator", task.Dir, c.ID, k.Name)
			}
		}
	}
}

const sound = `
package = "demo"
title = "Demo"
points = 2.0
files = ["a.go"]
[limits]
build = 1
case = 1
output = 1
steps = 1
[shares]
correctness = 0.75
traffic = 0.25
[traffic]
full = 1.6
none = 4.0
[[check]]
id = "softmax"
title = "Softmax"
op = "softmax"
points = 2.0
case = [
  { name = "2x3", shape = [2, 3, 1], dist = "normal", traffic = true },
  { name = "large", shape = [2, 3, 1], dist = "large" },
]
`

func TestCheckRefusesWhatDoesNotFitTheOperation(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "task2_unfused"), 0o755))
	check := func(text string) error {
		require.NoError(t, os.WriteFile(filepath.Join(root, "task2_unfused", "rubric.toml"), []byte(text), 0o644))
		task, err := rubric.Load(root, "task2_unfused")
		require.NoError(t, err)
		return Ops.Check(task)
	}
	require.NoError(t, check(sound))
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown op":     {`op = "softmax"`, `op = "softmix"`, `unknown op "softmix"`},
		"unknown dist":   {`dist = "large"`, `dist = "gauss"`, `unknown dist "gauss"`},
		"wrong shape":    {"shape = [2, 3, 1], dist = \"large\"", "shape = [2, 3], dist = \"large\"", "takes [outer, len, inner]"},
		"huge shape":     {"shape = [2, 3, 1], dist = \"large\"", "shape = [100000, 100000, 100000], dist = \"large\"", "has more than"},
		"row all masked": {`dist = "large"`, `dist = "masked"`, "whole row"},
		"not causal":     {`dist = "large"`, `dist = "large", causal = true`, "means nothing"},
	} {
		text := strings.Replace(sound, c.old, c.new, 1)
		require.NotEqual(t, sound, text, name)
		err := check(text)
		assert.ErrorContains(t, err, c.want, name)
		assert.ErrorContains(t, err, "task2_unfused/rubric.toml", name)
	}
}
