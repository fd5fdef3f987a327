package rubric

import (
	"fmt"
	"math"
)

// stepsPerPoint: every part is worth a multiple of 1/20 of a point, 0.05, so that a person can add
// parts up.
const stepsPerPoint = 20

// Parts are a check's points, part by part. They add up to the check's.
type Parts struct{ Correctness, Hidden, Safety, Traffic, Banks, Speed float64 }

// Parts cuts a check's points by its shares, and the hidden cases' part out of correctness by their
// weight. Each part is rounded to a multiple of 0.05: first down, but to at least one step; then the
// parts that lost most by it get a step more, until the sum is right. Among equals, the larger part
// comes first. An optional check's are shares of one point, which is in no total and shown to nobody.
func (t *Task) Parts(c Check) Parts {
	p, _ := t.parts(c) // Load has refused the others
	return p
}

func (t *Task) parts(c Check) (Parts, error) {
	s, hidden := t.Split(c), c.hiddenShare()
	shares := []float64{s.Correctness * (1 - hidden), s.Correctness * hidden, s.Safety, s.Traffic, s.Banks, s.Speed}
	points := c.Points
	if c.Optional {
		points = 1
	}
	all := int(math.Round(points * stepsPerPoint))
	if math.Abs(points*stepsPerPoint-float64(all)) > 1e-9 {
		return Parts{}, fmt.Errorf("points = %v: want a multiple of 0.05, so that a person can add the parts up", points)
	}
	steps, given := make([]int, len(shares)), 0
	for i, share := range shares {
		if share > 0 {
			steps[i] = max(1, int(math.Floor(share*float64(all)+1e-9)))
		}
		given += steps[i]
	}
	for ; given != all; given += sign(all - given) {
		best := -1
		for i, share := range shares {
			if share == 0 || given > all && steps[i] == 1 {
				continue
			}
			if best < 0 || owed(share, all, steps[i], given) > owed(shares[best], all, steps[best], given)+1e-9 ||
				math.Abs(owed(share, all, steps[i], given)-owed(shares[best], all, steps[best], given)) <= 1e-9 && share > shares[best] {
				best = i
			}
		}
		if best < 0 {
			return Parts{}, fmt.Errorf("points = %v are too few for its %d parts, of at least 0.05 each: give it more points, or fewer shares", points, given)
		}
		steps[best] += sign(all - given)
	}
	worth := func(i int) float64 { return float64(steps[i]) / stepsPerPoint }
	return Parts{worth(0), worth(1), worth(2), worth(3), worth(4), worth(5)}, nil
}

// owed is how much a part has too little; where there are too many steps, how much too much.
func owed(share float64, all, steps, given int) float64 {
	return (share*float64(all) - float64(steps)) * float64(sign(all-given))
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
