package gradebook

import (
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
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
	factor := c.factor(t)
	for i, k := range one.Result.Checks {
		parts := slices.Clone(k.Parts)
		for j := range parts {
			parts[j].Score, parts[j].Max = parts[j].Score*factor, parts[j].Max*factor
		}
		one.Result.Checks[i].Parts = parts
	}
	return &one, stale
}

// scaled is a rubric with the course's points.
func (c Class) scaled(t *rubric.Task) *rubric.Task {
	factor := c.factor(t)
	own := *t
	own.Points *= factor
	own.Checks = slices.Clone(t.Checks)
	for i := range own.Checks {
		own.Checks[i].Points *= factor
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
