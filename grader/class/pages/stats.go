package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// parts of a check, in their order on the pages.
var parts = []string{"correctness", verdict.Hidden, "safety", "traffic", "speed"}

// checkStats is one check over the class: of the attempts that count, and were graded.
type checkStats struct {
	Task           registry.Name
	ID, Title      string
	Of             float64
	Graded         int     // students
	Begun          int     // of these, who wrote anything for it
	Full           float64 // share with all points of what was measured; -1 where nobody counts
	Parts          []partStats
	Speed, Traffic []dot
	// Where points for these begin and are all there.
	SpeedCurve, TrafficCurve rubric.Curve
}

// partStats is the mean of a part's points, as a share; -1 where nobody was measured.
type partStats struct {
	Name string
	Mean float64
}

// taskStats is one task over the class.
type taskStats struct {
	Number   registry.Name
	Title    string
	HandedIn int // students with a graded attempt
	Refused  int // of which nothing could run: the gate's or the compiler's words
	Checks   []checkStats
	Scores   []float64 // shares of the points that were measured
	Parts    []string  // of checks, that anybody was measured in
	Hist     histogram
}

// caseStats is a case that many got wrong.
type caseStats struct {
	Name   string // "2: softmax/17x113"
	Hidden bool
	Wrong  int
	Of     int // students whose code answered at all
}

// kindStats is a kind of finding, and how many students have it.
type kindStats struct {
	Kind     string
	Students int
}

// decided tells whether a check has points from the grader itself.
func decided(k gradebook.Check) bool { return k.Held == nil && k.Override == nil }

// measure adds up a task over the entries. Checks that await a person, or that a person decided, are
// left out: whether they are right is not known, or not by measuring.
func measure(class gradebook.Class, entries []gradebook.Entry, at int) taskStats {
	var t taskStats
	for i, e := range entries {
		one := e.Tasks[at]
		if i == 0 {
			t.Number, t.Title = one.Rubric.Name, one.Rubric.Title
			for _, rc := range one.Rubric.Checks {
				t.Checks = append(t.Checks, checkStats{Task: t.Number, ID: rc.ID, Title: first(rc.Title, rc.ID), Of: rc.Points,
					SpeedCurve: class.SpeedOf(one.Rubric, rc), TrafficCurve: one.Rubric.Curve(rc)})
			}
		}
		if one.Part == nil || one.Part.Failed != "" {
			continue
		}
		t.HandedIn++
		if s := share(one.Final, one.Of); s >= 0 {
			t.Scores = append(t.Scores, s)
		}
		if one.Part.Result.Refused != "" {
			t.Refused++
		}
	}
	for i := range t.Checks {
		t.Checks[i].measure(entries, at)
	}
	for i, name := range parts {
		if slices.ContainsFunc(t.Checks, func(c checkStats) bool { return c.Parts[i].Mean >= 0 }) {
			t.Parts = append(t.Parts, name)
		}
	}
	for i := range t.Checks {
		t.Checks[i].Parts = slices.DeleteFunc(t.Checks[i].Parts, func(p partStats) bool { return !slices.Contains(t.Parts, p.Name) })
	}
	t.Hist = histogramOf(t.Scores)
	return t
}

func (s *checkStats) measure(entries []gradebook.Entry, at int) {
	full, sums, counts := 0, map[string]float64{}, map[string]int{}
	for _, e := range entries {
		t := e.Tasks[at]
		c := find(t, s.ID)
		if c == nil {
			continue
		}
		s.Graded++
		if begun(*c) {
			s.Begun++
		}
		whole := true
		for _, p := range c.Parts {
			if p.NotMeasured != "" || p.Max <= 0 {
				continue
			}
			counts[p.Name]++
			sums[p.Name] += p.Score / p.Max
			whole = whole && p.Score >= p.Max-1e-9
			if p.Name == "speed" && p.Ratio > 0 {
				s.Speed = append(s.Speed, dot{p.Ratio, who(e)})
			}
		}
		if whole {
			full++
		}
		if r := worstTraffic(*c); r > 0 {
			s.Traffic = append(s.Traffic, dot{r, who(e)})
		}
	}
	s.Full = -1
	if s.Graded > 0 {
		s.Full = float64(full) / float64(s.Graded)
	}
	for _, name := range parts {
		mean := -1.0
		if counts[name] > 0 {
			mean = sums[name] / float64(counts[name])
		}
		s.Parts = append(s.Parts, partStats{name, mean})
	}
}

// find is a student's check, if a machine could decide on it.
func find(t gradebook.Task, id string) *verdict.Check {
	if t.Part == nil || t.Part.Failed != "" {
		return nil
	}
	for _, k := range t.Checks {
		if k.ID == id && !decided(k) {
			return nil
		}
	}
	for i, c := range t.Part.Result.Checks {
		if c.ID == id {
			return &t.Part.Result.Checks[i]
		}
	}
	return nil
}

// begun tells a check that somebody worked on from a stub.
func begun(c verdict.Check) bool {
	return slices.ContainsFunc(c.Cases, func(k verdict.Outcome) bool { return k.Class != "not_implemented" && k.Class != "not_run" })
}

// worstTraffic is the most that a right case moved, in times of the least; 0 if none was counted.
func worstTraffic(c verdict.Check) (worst float64) {
	for _, k := range c.Cases {
		if k.Traffic && k.Passed {
			worst = max(worst, k.Ratio())
		}
	}
	return worst
}

// hardest are the cases that most of those who began got wrong. hidden says whether hidden ones may be named.
func hardest(entries []gradebook.Entry, hidden bool, most int) (all []caseStats) {
	at := map[string]int{}
	for _, e := range entries {
		for i, t := range e.Tasks {
			for _, rc := range t.Rubric.Checks {
				c := find(e.Tasks[i], rc.ID)
				if c == nil || !begun(*c) {
					continue
				}
				for _, k := range c.Cases {
					if k.Hidden && !hidden {
						continue
					}
					name := fmt.Sprintf("%s: %s/%s", t.Rubric.Name, c.ID, k.Name)
					if _, seen := at[name]; !seen {
						at[name] = len(all)
						all = append(all, caseStats{Name: name, Hidden: k.Hidden})
					}
					one := &all[at[name]]
					one.Of++
					if !k.Passed {
						one.Wrong++
					}
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(c caseStats) bool { return c.Wrong == 0 })
	slices.SortStableFunc(all, func(a, b caseStats) int {
		return cmp.Or(cmp.Compare(float64(b.Wrong)/float64(b.Of), float64(a.Wrong)/float64(a.Of)), b.Wrong-a.Wrong)
	})
	return all[:min(len(all), most)]
}

// kinds counts the students with each kind of finding.
func kinds(entries []gradebook.Entry) (all []kindStats) {
	count := map[string]int{}
	for _, e := range entries {
		seen := map[string]bool{}
		for _, t := range e.Tasks {
			for _, rc := range t.Rubric.Checks {
				if c := find(t, rc.ID); c != nil {
					for _, f := range c.Findings {
						seen[first(f.Kind, f.Check)] = true
					}
				}
			}
		}
		for k := range seen {
			count[k]++
		}
	}
	for k, n := range count {
		all = append(all, kindStats{k, n})
	}
	slices.SortFunc(all, func(a, b kindStats) int {
		return cmp.Or(b.Students-a.Students, strings.Compare(a.Kind, b.Kind))
	})
	return all
}

// totals are the shares of measured points of all who handed something in.
func totals(entries []gradebook.Entry) (shares []float64) {
	for _, e := range entries {
		if !e.Blank() {
			shares = append(shares, e.Points/e.Of)
		}
	}
	return shares
}

// quartile of sorted or unsorted numbers: the value that a share q is below or at.
func quartile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return -1
	}
	s := slices.Sorted(slices.Values(xs))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
