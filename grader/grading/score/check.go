package score

import (
	"cmp"
	"fmt"
	"strings"

	"flashlab/device/trace"
	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// Run is one case on one device: its result, and whether it was right.
type Run struct {
	Result supervise.Result
	Case   verdict.Outcome
}

// Measured are a check's runs. Where the cases ran in the simulator, both
// slices are the same.
type Measured struct {
	Runs  []Run  // they decide on correctness
	Sim   []Run  // they decide on safety and traffic; nil where there are none
	NoSim string // why Sim is nil
	// Known are findings of earlier checks: they cost points only once.
	Known []verdict.Found
	Speed Speed
	// Against says what traffic is compared with, if not the least bytes.
	Against string
}

// Score gives a check its points.
func Score(t *rubric.Task, rc rubric.Check, m Measured) verdict.Check {
	c := verdict.Check{ID: rc.ID, Title: rc.Title, Optional: rc.Optional}
	for i, r := range m.Runs {
		if i < len(m.Sim) { // a GPU does not count bytes
			in := m.Sim[i].Case
			r.Case.Moved, r.Case.Spilled, r.Case.Prints, r.Case.CutOff = in.Moved, in.Spilled, in.Prints, in.CutOff
			r.Case.Suspect, r.Case.Facts, r.Case.Counted = in.Suspect, in.Facts, in.Counted
			r.Case.Disagreed = r.Case.Passed != in.Passed
		}
		c.Cases = append(c.Cases, r.Case)
	}
	for _, s := range marks.Parts(t, rc) {
		p := verdict.Part{Name: s.Name, Max: s.Most}
		switch {
		case s.Name == "correctness":
			marks.Correctness(&p, c.Cases, false)
		case s.Name == verdict.Hidden && rc.Withheld > 0:
			p.NotMeasured, p.Withheld = withheld(rc), true
		case s.Name == verdict.Hidden:
			marks.Correctness(&p, c.Cases, true)
		case s.Name == "speed":
			m.Speed.mark(&p, t.SpeedOf(rc))
		case m.Sim == nil:
			p.NotMeasured = "not measured: " + m.NoSim
		case s.Name == "safety":
			var known int
			c.Findings, known = fresh(findings(m.Sim), m.Known)
			safety(&p, m.Sim, c.Findings)
			if known > 0 { // "no findings beyond the 2 of an earlier check, but no case is right either"
				found, rest, more := strings.Cut(p.Note, ", ")
				p.Note = fmt.Sprintf("%s beyond the %d of an earlier check", found, known)
				if more {
					p.Note += ", " + rest
				}
			}
			p.Note += notes(m.Sim)
		case s.Name == verdict.BankPart:
			marks.Banks(&p, outcomes(m.Sim))
		default:
			marks.Traffic(&p, t.Curve(rc), outcomes(m.Sim), cmp.Or(m.Against, "the least bytes"))
		}
		p.Score = marks.Cents(p.Score)
		c.Parts = append(c.Parts, p)
	}
	return c
}

// TooMuch is why a case is left out that only a GPU runs.
const TooMuch = "it is too much for the simulator"

// safety needs most of the ordinary cases that ran to be right: code that does nothing,
// refuses everything, or can do the smallest case only, is not safe code.
func safety(p *verdict.Part, runs []Run, found []verdict.Found) {
	launches, ordinary := 0, 0
	for _, r := range runs {
		launches += r.Result.Seen.Launches()
		if !r.Case.Refused && r.Result.NotRun != TooMuch {
			ordinary++
		}
	}
	right := marks.OrdinaryRight(outcomes(runs))
	switch {
	case len(found) > 0:
		p.Note = marks.Plural(len(found), "finding")
	case launches == 0:
		p.Note = "no kernel ran"
	case right == 0 && ordinary > 0:
		p.Note = "no findings, but no case is right either"
	case 2*right <= ordinary:
		p.Note = fmt.Sprintf("no findings, but only %d of %s right, and most must be", right, marks.Plural(ordinary, "case"))
	default:
		p.Score = p.Max
		p.Note = "no findings"
	}
}

// notes says what the simulator remarks on besides its findings, in cases that are no secret.
func notes(runs []Run) string {
	var first trace.Finding
	places := map[place]bool{}
	for _, r := range runs {
		for _, f := range r.Result.Seen.Notes {
			if r.Case.Hidden {
				continue
			}
			if len(places) == 0 {
				first = f
			}
			places[placeOf(f)] = true
		}
	}
	if len(places) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s, without points: %s", marks.Plural(len(places), "note"), first.Headline())
}

// place is where a finding is; several at one place count as one.
type place struct {
	check, kind, kernel, file string
	line                      int
}

func placeOf(f trace.Finding) place { return place{f.Check, f.Kind, f.Kernel, f.File, f.Line} }

// findings folds what was found in several cases at one place into one.
func findings(runs []Run) []verdict.Found {
	at := map[place]int{}
	var all []verdict.Found
	for _, r := range runs {
		name := r.Case.Name
		if r.Case.Hidden {
			name = ""
		}
		for _, f := range r.Result.Seen.Findings {
			if i, seen := at[placeOf(f)]; seen {
				switch {
				case r.Case.Hidden && !all[i].Hidden(): // what a hidden case adds would tell of it
				case all[i].Hidden() && !r.Case.Hidden:
					all[i] = verdict.Found{Finding: f, Case: name}
				default:
					all[i].Count += f.Count
					all[i].Fatal = all[i].Fatal || f.Fatal
				}
				continue
			}
			at[placeOf(f)] = len(all)
			all = append(all, verdict.Found{Finding: f, Case: name})
		}
		if f, ok := unreported(r.Result); ok {
			all = append(all, verdict.Found{Finding: f, Case: name})
		}
	}
	return all
}

// fresh leaves out what was found before, and counts it.
func fresh(found, known []verdict.Found) (left []verdict.Found, n int) {
	before := map[place]bool{}
	for _, f := range known {
		before[placeOf(f.Finding)] = f.Line > 0 // one without a place may be another
	}
	for _, f := range found {
		if before[placeOf(f.Finding)] {
			n++
			continue
		}
		left = append(left, f)
	}
	return left, n
}

// unreported makes a finding of a stopped kernel that left none, because the
// simulator's process ended with it.
func unreported(r supervise.Result) (trace.Finding, bool) {
	if r.Error == nil || r.Error.Class != "fault" {
		return trace.Finding{}, false
	}
	for _, f := range r.Seen.Findings {
		if f.Fatal {
			return trace.Finding{}, false
		}
	}
	return trace.Finding{Check: "limits", Kind: "stopped", Message: r.Error.Text, Count: 1, Fatal: true}, true
}

// outcomes are the runs' cases.
func outcomes(runs []Run) (all []verdict.Outcome) {
	for _, r := range runs {
		all = append(all, r.Case)
	}
	return all
}
