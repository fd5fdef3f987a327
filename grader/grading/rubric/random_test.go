package rubric

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const drawing = `hidden = { random = 2, shape = [[1, 3], [1, 4], [2, 5], [20, 90]], times = [[1, 2]], filled = 3, dist = ["normal", "large"], causal = true, weight = 0.5 }`

func drawn(t *testing.T, task *Task, seed string) (all []Case) {
	t.Helper()
	task.Draw(seed)
	for _, k := range task.Checks[0].Cases {
		if k.Drawn {
			all = append(all, k)
		}
	}
	return all
}

func TestHiddenCasesAreDrawnFromTheClassesSeed(t *testing.T) {
	task, err := loadText(t, strings.Replace(good, `op = "softmax"`, "op = \"softmax\"\n"+drawing, 1))
	require.NoError(t, err)
	fixed := len(task.Checks[0].Cases) - 2
	this, next := drawn(t, task, "2026"), drawn(t, task, "2027")
	require.Len(t, this, 2)
	assert.NotEqual(t, this, next)
	assert.NotEqual(t, this[0].Shape, this[1].Shape)
	assert.Equal(t, this, drawn(t, task, "2026"))
	assert.Len(t, task.Checks[0].Cases, fixed+2, "those of another class are gone")
	seen := map[int]bool{}
	for seed := range 300 {
		for _, k := range drawn(t, task, strings.Repeat("x", seed)) {
			require.NoError(t, k.validate())
			require.True(t, k.Hidden && k.Causal && k.Weight == 0.5)
			require.Zero(t, k.Shape[1]%k.Shape[2], "so many heads for each key head")
			require.Len(t, k.Each, k.Shape[0])
			for _, n := range k.Each {
				require.True(t, n >= 1 && n <= k.Shape[3])
			}
			seen[k.Shape[3]] = true
		}
	}
	assert.True(t, seen[20] && seen[90], "both ends can be met")
}

func TestAMeasurementDependsOnTheCasesThatWereDrawn(t *testing.T) {
	task, err := loadText(t, strings.Replace(good, `op = "softmax"`, "op = \"softmax\"\n"+drawing, 1))
	require.NoError(t, err)
	task.Draw("2026")
	before := task.Measured()
	task.Draw("2027")
	assert.NotEqual(t, before, task.Measured())
	task.Draw("2026")
	assert.Equal(t, before, task.Measured())
}

func TestHowCasesAreDrawnIsChecked(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"none":          {"random = 2", "random = 0", "how many"},
		"upside down":   {"[20, 90]", "[90, 20]", "[smallest, largest]"},
		"no span":       {"[20, 90]", "[20]", "[smallest, largest]"},
		"times nothing": {"[[1, 2]]", "[[1, 4]]", "counted from 0"},
		"fills nothing": {"filled = 3", "filled = 4", "which number"},
		"weighs less":   {"weight = 0.5", "weight = -1", "weight"},
		"no dist":       {`dist = ["normal", "large"]`, "dist = []", "dists"},
		"unknown":       {"causal", "casual", "casual"},
	} {
		_, err := loadText(t, strings.Replace(good, `op = "softmax"`, "op = \"softmax\"\n"+strings.Replace(drawing, c.old, c.new, 1), 1))
		assert.ErrorContains(t, err, c.want, name)
	}
}
