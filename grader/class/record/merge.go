package record

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/verdict"
	"flashlab/internal/cache"
)

// Merge joins what two runs measured of one attempt, say one on a GPU and one in the simulator. If
// only one of them measured a part, its points count. If both did, the run with more cases counts,
// or else the first. What either holds stays held. The notes say where the runs disagree.
func Merge(a, b *Record) (*Record, []string) {
	var notes []string
	note := func(format string, args ...any) {
		notes = append(notes, fmt.Sprintf("%s, attempt %d: ", a.Student.ID, a.Attempt)+fmt.Sprintf(format, args...))
	}
	if a.Trouble != "" && b.Trouble == "" {
		note("one run could not read the submission: %s", a.Trouble)
		a, b = b, a
	} else if b.Trouble != "" {
		return a, notes
	}
	m := *a
	m.Tasks = slices.Clone(a.Tasks)
	if a.Release != b.Release {
		note("graded by different releases, %s and %s", a.Release, b.Release)
	}
	for _, t := range b.Tasks {
		mine := a.Task(t.Name)
		switch {
		case mine == nil || mine.Failed != "":
			m.Put(t)
		case t.Failed != "":
		case mine.Files != t.Files:
			note("task %s: the runs graded different files; the first counts", t.Name)
		default:
			joined, warnings := mergeTask(*mine, t)
			m.Put(joined)
			for _, s := range warnings {
				note("task %s: %s", t.Name, s)
			}
		}
	}
	return &m, notes
}

func mergeTask(a, b Task) (Task, []string) {
	var notes []string
	m := a
	m.Key = cache.Key("merged", a.Key, b.Key)
	m.Times = nil
	m.Device = joined(a.Device, b.Device)
	m.Result.Device = joined(a.Result.Device, b.Result.Device)
	m.Result.Versions = joined(a.Result.Versions, b.Result.Versions)
	for _, w := range b.Result.Warnings {
		if !slices.Contains(m.Result.Warnings, w) {
			m.Result.Warnings = append(slices.Clone(m.Result.Warnings), w)
		}
	}
	if a.Result.Refused != "" && b.Result.Refused == "" {
		notes = append(notes, "one of the runs could not run it: "+a.Result.Refused)
		m.Result.Refused = ""
	}
	m.Result.Checks, m.Result.Held = nil, nil
	for _, c := range a.Result.Checks {
		at := slices.IndexFunc(b.Result.Checks, func(o verdict.Check) bool { return o.ID == c.ID })
		if at >= 0 {
			var warnings []string
			c, warnings = mergeCheck(c, b.Result.Checks[at], a.Held(c.ID), b.Held(c.ID))
			notes = append(notes, warnings...)
		}
		for _, h := range []*verdict.Held{a.Held(c.ID), b.Held(c.ID)} {
			if h != nil {
				m.Result.Held = append(m.Result.Held, *h)
				break
			}
		}
		m.Result.Checks = append(m.Result.Checks, c)
	}
	return m, notes
}

func mergeCheck(a, b verdict.Check, aHeld, bHeld *verdict.Held) (verdict.Check, []string) {
	switch {
	case aHeld != nil:
		return a, nil
	case bHeld != nil:
		return b, nil
	}
	m := a
	m.Parts = nil
	var notes []string
	for _, p := range a.Parts {
		q := b.Part(p.Name)
		switch {
		case q == nil || q.NotMeasured != "":
		case p.NotMeasured != "":
			p = *q
		default:
			other := q.Score
			if len(b.Cases) > len(a.Cases) && (p.Name == "correctness" || p.Name == verdict.Hidden) {
				p, other = *q, p.Score
			}
			if d := p.Score - other; d > 1e-9 || d < -1e-9 {
				notes = append(notes, fmt.Sprintf("%s %s has %.4g points in one run and %.4g in the other; %.4g count", a.ID, p.Name, p.Score, other, p.Score))
			}
		}
		m.Parts = append(m.Parts, p)
	}
	if len(b.Cases) > len(a.Cases) {
		m.Cases = withBytes(b.Cases, a.Cases)
	} else {
		m.Cases = withBytes(a.Cases, b.Cases)
	}
	if len(a.Findings) == 0 {
		m.Findings = b.Findings
	}
	return m, notes
}

// withBytes are the cases, with the bytes that the other run counted where this one did not: points for
// traffic are made from them.
func withBytes(cases, other []verdict.Outcome) []verdict.Outcome {
	all := slices.Clone(cases)
	for i := range all {
		at := slices.IndexFunc(other, func(o verdict.Outcome) bool { return o.Name == all[i].Name })
		if at < 0 || all[i].Moved > 0 || other[at].Moved == 0 {
			continue
		}
		o := other[at]
		all[i].Moved, all[i].Least = o.Moved, o.Least
		all[i].Disagreed = all[i].Passed != (o.Passed != o.Disagreed)
	}
	return all
}

// joined names both, or the one that they are.
func joined(a, b string) string {
	if a == b || b == "" || strings.Contains(a, b) {
		return a
	}
	if a == "" {
		return b
	}
	return a + "; " + b
}
