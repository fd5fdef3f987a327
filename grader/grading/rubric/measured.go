package rubric

import (
	"encoding/json"
	"slices"

	"flashlab/internal/cache"
)

// Measured names what of a rubric, and of those of the tasks that it uses, a measurement depends on:
// files, limits, and what each check runs and times. Points, shares, weights, curves and titles are
// not part of it: these are applied to what was measured.
func (t *Task) Measured() string {
	parts := []string{"rubric"}
	for _, one := range t.All() {
		own := *one
		own.Name, own.Variant, own.Title, own.Points, own.Shares, own.Traffic, own.Speed, own.Used = "", "", "", 0, Shares{}, Curve{}, Curve{}, nil
		own.Checks = slices.Clone(one.Checks)
		if one != t {
			own.Checks, own.Limits, own.Reports = nil, Limits{}, nil // only its files are in the worker
		}
		for i := range own.Checks {
			c := &own.Checks[i]
			asked := one.Split(*c) // whether, not how much: what no rubric asks for is not recorded
			c.Title, c.Points, c.TrafficCurve, c.SpeedCurve = "", 0, nil, nil
			c.Random = nil // the cases that were drawn are among the others
			c.OwnShares = &Shares{Correctness: whether(asked.Correctness), Safety: whether(asked.Safety), Traffic: whether(asked.Traffic), Banks: whether(asked.Banks), Speed: whether(asked.Speed)}
			c.Cases = slices.Clone(c.Cases)
			for j := range c.Cases {
				c.Cases[j].Weight = 0
			}
		}
		text, err := json.Marshal(own)
		if err != nil {
			panic("rubric: " + err.Error()) // numbers and texts alone: a test sees to it
		}
		parts = append(parts, string(text))
		if one.Speed32 != (Curve{}) { // a ratio that was measured beside float32 means something else
			parts = append(parts, "speed is beside as many bits as the inputs have")
		}
	}
	return cache.Key(parts...)
}

func whether(share float64) float64 {
	if share > 0 {
		return 1
	}
	return 0
}
