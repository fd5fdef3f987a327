package gradebook

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// Points are made here and nowhere else: what a record holds is marked by today's rubric and by the
// course's own curve for speed, and then scaled to the course's points, part by part. All tables and
// pages read the result, so that none of them can disagree with another.

// marked is what was measured of a task, with its points; nil if nothing was. stale names what the
// rubric wants by now, and nobody has measured.
func (c Class) marked(t *rubric.Task, r *record.Record) (part *record.Task, stale []string) {
	if r == nil || r.Task(t.Name) == nil {
		return nil, nil
	}
	one := *r.Task(t.Name)
	if one.Failed != "" {
		return &one, nil
	}
	one.Result, stale = marks.Again(c.curved(t), one.Result)
	scaled := c.scaled(t)
	for i, k := range one.Result.Checks {
		parts := slices.Clone(k.Parts)
		for j := range parts {
			if one.Result.Refused != "" && !parts[j].Withheld { // what does not run has no speed either, on any device
				parts[j].NotMeasured, parts[j].NeedsGPU = "", false
			}
		}
		if c.factor(t) != 1 {
			scaleParts(parts, scaled.Checks[slices.IndexFunc(t.Checks, func(rc rubric.Check) bool { return rc.ID == k.ID })].Points)
		}
		one.Result.Checks[i].Parts = parts
	}
	return &one, stale
}

// scaleParts makes parts worth so many points together. What was reached is never rounded up.
func scaleParts(parts []verdict.Part, points float64) {
	var worth []float64
	for _, p := range parts {
		worth = append(worth, p.Max)
	}
	for i, most := range share(points, worth) {
		reached := 0.0
		if parts[i].Max > 0 {
			reached = parts[i].Score / parts[i].Max
		}
		parts[i].Max, parts[i].Score = most, math.Floor(reached*most*thousand+1e-6)/thousand
	}
}

// thousand: points that were scaled are thousandths, as all papers show them. So sums agree, in whatever order.
const thousand = 1000

// share divides points by what its parts are worth: thousandths, which add up to the whole.
func share(points float64, worth []float64) []float64 {
	sum := 0.0
	for _, w := range worth {
		sum += w
	}
	all := make([]float64, len(worth))
	if sum <= 0 {
		return all
	}
	left := int(math.Round(points * thousand))
	order := make([]int, len(worth))
	exact := make([]float64, len(worth))
	for i, w := range worth {
		order[i], exact[i] = i, points*thousand*w/sum
		all[i] = math.Floor(exact[i] + 1e-6)
		left -= int(all[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(exact[b]-all[b], exact[a]-all[a]) })
	for _, i := range order {
		if left > 0 {
			all[i], left = all[i]+1, left-1
		}
	}
	for i := range all {
		all[i] /= thousand
	}
	return all
}

// Measured sums up what was measured of one attempt, in words: by the same rules as the gradebook, before lateness and
// whatever a person decides or marks.
func (c Class) Measured(r *record.Record) string {
	c.Tables, c.given = Tables{}, nil
	var e Entry
	for _, t := range c.graded() {
		if r.Task(t.Name) == nil {
			continue
		}
		one := c.task(r.Student, t, nil, r)
		one.Final = round(one.Points)
		e.add(one)
	}
	line := fmt.Sprintf("%s of %s points", Number(e.Points), Number(e.Of))
	if e.Bonus.Of > 0 {
		line += fmt.Sprintf(", bonus: %s of %s", Number(e.Bonus.Points), Number(e.Bonus.Of))
	}
	return line
}

// scaled is a rubric with the course's points.
func (c Class) scaled(t *rubric.Task) *rubric.Task {
	factor := c.factor(t)
	if factor == 1 {
		return t
	}
	own := *t
	own.Points *= factor
	own.Checks = slices.Clone(t.Checks)
	var worth []float64
	for _, rc := range t.Checks {
		worth = append(worth, rc.Points)
	}
	for i, points := range share(own.Points, worth) {
		own.Checks[i].Points = points
	}
	return &own
}

// factor is from a rubric's points to the course's.
func (c Class) factor(t *rubric.Task) float64 {
	if p := c.Course.Task[string(t.Name)].Points; p > 0 {
		return p / t.Points
	}
	return 1
}

// curved is a rubric with the course's own curve for speed, if it has one.
func (c Class) curved(t *rubric.Task) *rubric.Task {
	speed := c.Course.Speed
	if speed == nil {
		return t
	}
	own := *t
	own.Speed = rubric.Curve{None: speed.None, Full: speed.Full}
	own.Checks = slices.Clone(t.Checks)
	for i := range own.Checks {
		own.Checks[i].SpeedCurve = nil
	}
	return &own
}

// SpeedOf is what a check's speed is marked by.
func (c Class) SpeedOf(t *rubric.Task, rc rubric.Check) rubric.Curve {
	if own := c.Course.Speed; own != nil {
		return rubric.Curve{None: own.None, Full: own.Full}
	}
	return t.SpeedOf(rc)
}

// staleNote is for the instructor.
func staleNote(stale []string) string {
	const most = 3
	words := strings.Join(stale[:min(len(stale), most)], ", ")
	if len(stale) > most {
		words += ", …"
	}
	return "measured by an earlier rubric (" + words + "): grader batch grades it again"
}
