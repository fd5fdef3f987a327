package marks

import (
	"fmt"
	"regexp"
	"slices"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// Again makes the points of what was measured anew, by a rubric that may have changed since: other
// points, shares, weights or curves. stale names what the rubric wants and was not measured: cases
// that are new or have changed, and parts of that kind. These points are open, not lost.
func Again(t *rubric.Task, v verdict.Verdict) (marked verdict.Verdict, stale []string) {
	marked = v
	marked.Checks = nil
	for _, rc := range t.Checks {
		at := slices.IndexFunc(v.Checks, func(c verdict.Check) bool { return c.ID == rc.ID })
		if at < 0 {
			stale = append(stale, fmt.Sprintf("the check %q is new", rc.ID))
			continue
		}
		c, more := again(t, rc, v.Checks[at], v.Refused != "")
		marked.Checks, stale = append(marked.Checks, c), append(stale, more...)
	}
	marked.Held = slices.DeleteFunc(slices.Clone(v.Held), func(h verdict.Held) bool {
		return h.Check != "" && !slices.ContainsFunc(t.Checks, func(rc rubric.Check) bool { return rc.ID == h.Check })
	})
	return marked, stale
}

func again(t *rubric.Task, rc rubric.Check, c verdict.Check, refused bool) (verdict.Check, []string) {
	cases, stale := today(rc, c.Cases)
	if refused {
		cases, stale = nil, nil // nothing ran, and nothing would
	}
	whole := !refused && len(c.Cases) > 0
	before := c
	c.Title, c.Cases, c.Parts = rc.Title, cases, nil
	for _, of := range Parts(t, rc) {
		old := before.Part(of.Name)
		p := verdict.Part{Name: of.Name, Max: of.Most}
		if old != nil {
			p = *old
			p.Max, p.Score = of.Most, 0
		}
		switch {
		case refused && old == nil:
			p.Note = "nothing ran"
		case old != nil && old.NotMeasured != "" || refused:
		case of.Name == "correctness" && whole:
			Correctness(&p, cases, false)
		case of.Name == verdict.Hidden && whole:
			Correctness(&p, cases, true)
		case old == nil:
			p.NotMeasured = "not measured: an earlier rubric did not ask for it"
			stale = append(stale, fmt.Sprintf("%s of %q is new", of.Name, rc.ID))
		case of.Name == "traffic" && whole:
			note := p.Note
			Traffic(&p, t.Curve(rc), counted(cases), "")
			p.Note = note // what it is compared with is the operation's to say
		case of.Name == "speed" && p.Ratio > 0:
			curve := t.SpeedOf(rc)
			p.Score = p.Max * Rising(curve, p.Ratio)
			p.Note = fullFrom.ReplaceAllString(p.Note, fmt.Sprintf("full from %g on", curve.Full))
		case old.Max > 0: // all or nothing, as safety is; or there are no cases to go by
			p.Score = p.Max * old.Score / old.Max
		}
		p.Score = Cents(p.Score)
		c.Parts = append(c.Parts, p)
	}
	return c, stale
}

// fullFrom is what a note on speed says about its curve.
var fullFrom = regexp.MustCompile(`full from [^ :]+ on`)

// today are the cases that were measured, as the rubric has them now: with its weights, and without
// those that it has no more. What was measured of a case that has changed since still counts, but it
// is named.
func today(rc rubric.Check, measured []verdict.Outcome) (cases []verdict.Outcome, stale []string) {
	for _, k := range rc.Cases {
		at := slices.IndexFunc(measured, func(m verdict.Outcome) bool { return m.Name == k.Name })
		name := rc.ID + "/" + k.Name
		if k.Hidden {
			name = "a hidden case of " + rc.ID
		}
		switch {
		case at >= 0:
		case k.GPU: // perhaps there was none
			continue
		default:
			stale = append(stale, name+" is new")
			continue
		}
		m := measured[at]
		if !slices.Equal(m.Shape, k.Shape) || m.Dist != k.Dist || m.Causal != k.Causal || m.Refused != k.Refused || !slices.Equal(m.Each, k.Each) {
			stale = append(stale, name+" has changed")
		}
		m.Weight, m.Hidden, m.Traffic = k.Weight, k.Hidden, k.Traffic
		cases = append(cases, m)
	}
	return cases, stale
}

// counted are the cases as the device saw them that counts bytes: another one than that which decides on
// correctness, where there is a GPU.
func counted(cases []verdict.Outcome) []verdict.Outcome {
	all := slices.Clone(cases)
	for i := range all {
		all[i].Passed = all[i].Passed != all[i].Disagreed
	}
	return all
}
