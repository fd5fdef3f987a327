package rubric

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// TestAPersonCanAddPartsUp: no part of any check is other than a multiple of 0.05.
func TestAPersonCanAddPartsUp(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := LoadAll(root)
	require.NoError(t, err)
	totals := map[registry.Name]float64{}
	for _, task := range tasks {
		for _, c := range task.Checks {
			p, s := task.Parts(c), task.Split(c)
			sum := 0.0
			for _, part := range []struct{ worth, share float64 }{{p.Correctness, s.Correctness}, {p.Hidden, c.hiddenShare()}, {p.Safety, s.Safety}, {p.Traffic, s.Traffic}, {p.Speed, s.Speed}} {
				assert.InDelta(t, math.Round(part.worth*20), part.worth*20, 1e-9, "task %s, %s: a part is worth %v", task.Name, c.ID, part.worth)
				assert.Equal(t, part.share > 0, part.worth > 0, "task %s, %s: a part with a share has points, another has none", task.Name, c.ID)
				sum += part.worth
			}
			if c.Optional {
				assert.InDelta(t, 1, sum, 1e-9, "task %s, %s: a point that is in no total", task.Name, c.ID)
				continue
			}
			assert.InDelta(t, c.Points, sum, 1e-9, "task %s, %s", task.Name, c.ID)
			totals[task.Name] += sum
		}
	}
	for name, want := range map[registry.Name]float64{"1": 2, "2": 3, "3": 3, "4": 4, "5": 4, "6": 3, "7": 1} {
		assert.InDelta(t, want, totals[name], 1e-9, "task %s", name)
	}
}

func TestPartsAreNearTheirShares(t *testing.T) {
	task := &Task{Shares: Shares{Correctness: 0.6, Safety: 0.15, Traffic: 0.25}}
	hidden := []Case{{Weight: 19}, {Weight: 1, Hidden: true}}
	assert.Equal(t, Parts{Correctness: 0.55, Hidden: 0.05, Safety: 0.15, Traffic: 0.25}, task.Parts(Check{Points: 1, Cases: hidden}))
	assert.Equal(t, Parts{Correctness: 0.3, Safety: 0.05, Traffic: 0.15}, task.Parts(Check{Points: 0.5}), "of two that are owed as much, the larger gets it")
	assert.Equal(t, Parts{Correctness: 0.05, Hidden: 0.05, Safety: 0.05, Traffic: 0.05}, task.Parts(Check{Points: 0.2, Cases: hidden}), "no part is nothing")
}

func TestPointsThatCannotBeCutAreRefused(t *testing.T) {
	for points, want := range map[string]string{"0.1": "too few for its 4 parts", "0.33": "points = 0.33: want a multiple of 0.05"} {
		text := strings.ReplaceAll(good, "points = 2.0", "points = "+points)
		_, err := loadText(t, text)
		assert.ErrorContains(t, err, want)
	}
}
