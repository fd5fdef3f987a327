package gradebook

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// Leaderboard is one table: a check's times on one card, or the bytes that it moves.
type Leaderboard struct {
	Task     registry.Name `json:"task"`
	Check    string        `json:"check"`
	Title    string        `json:"title"`
	Bonus    bool          `json:"bonus,omitempty"`
	By       string        `json:"by"`                 // BySpeed or ByTraffic
	Card     string        `json:"card,omitempty"`     // of all times in it
	Workload string        `json:"workload,omitempty"` // that was timed
	Baseline string        `json:"baseline,omitempty"` // what it ran beside
	Rows     []Place       `json:"rows"`
}

// What a table is ordered by.
const (
	BySpeed   = "times the baseline's speed"
	ByTraffic = "times the least bytes"
)

// Place is a line. Those that cannot be told apart share one.
type Place struct {
	Place int     `json:"place"`
	Name  string  `json:"name"`
	Ratio float64 `json:"ratio"`
	Says  string  `json:"says,omitempty"` // "1.25 ms beside 1 ms; 0.79 to 0.81"
}

// Leaderboards are the tables of all checks that are timed, in the order of the route. Where nobody's time was
// measured, they order by bytes. Only right results count, and only honest times.
func (c Class) Leaderboards(entries []Entry) (all []Leaderboard) {
	for at, t := range c.graded() {
		for _, rc := range t.Checks {
			if len(rc.Ladder) == 0 {
				continue
			}
			tables := timed(entries, at, t, rc)
			if !anyTimed(entries, at, rc.ID) {
				tables = moved(entries, at, t, rc)
			}
			for _, one := range tables {
				one.rank()
				all = append(all, one)
			}
		}
	}
	return all
}

// graded are the rubrics of the tasks that are on, which are those of each entry.
func (c Class) graded() (all []*rubric.Task) {
	for _, t := range c.Rubrics {
		if c.Course.Graded(t.Name) {
			all = append(all, t)
		}
	}
	return all
}

// honest is an entry's check as measured, if a leaderboard may show anything of it: all of it is right, nothing was
// found, and no person has to decide on it or had to.
func honest(t Task, id string) *verdict.Check {
	if t.Part == nil || t.Part.Failed != "" || t.Whole != nil || len(t.Part.Result.Copies) > 0 {
		return nil
	}
	at := slices.IndexFunc(t.Checks, func(k Check) bool { return k.ID == id })
	if at < 0 || t.Checks[at].Held != nil || t.Checks[at].Override != nil {
		return nil
	}
	for i, c := range t.Part.Result.Checks {
		if c.ID != id {
			continue
		}
		doubted := slices.ContainsFunc(c.Parts, func(p verdict.Part) bool { return p.Doubt != "" })
		wrong := slices.ContainsFunc(c.Cases, func(k verdict.Outcome) bool { return !k.Passed || k.Suspect != "" || k.Disagreed })
		if doubted || wrong || len(c.Cases) == 0 || len(c.Findings) > 0 {
			return nil
		}
		return &t.Part.Result.Checks[i]
	}
	return nil
}

// anyTimed tells whether anybody of the class was timed.
func anyTimed(entries []Entry, at int, id string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool {
		t := e.Tasks[at]
		return t.Part != nil && slices.ContainsFunc(t.Part.Result.Checks, func(k verdict.Check) bool {
			p := k.Part("speed")
			return k.ID == id && p != nil && (p.Ratio > 0 || p.Doubt != "")
		})
	})
}

// timed are the tables of times: one for each card and workload, for times of different ones say nothing about each other.
func timed(entries []Entry, at int, t *rubric.Task, rc rubric.Check) (all []Leaderboard) {
	for _, e := range entries {
		k := honest(e.Tasks[at], rc.ID)
		if k == nil || !e.OnBoard() {
			continue
		}
		p := k.Part("speed")
		card := cardOf(e.Tasks[at].Part.Device)
		if p == nil || p.NotMeasured != "" || !(p.Ratio > 0) || card == "" {
			continue
		}
		said := speedNote.FindStringSubmatch(p.Note)
		if said == nil {
			continue // nobody knows what was timed
		}
		table := Leaderboard{Task: t.Name, Check: rc.ID, Title: t.Title + ": " + first(rc.Title, rc.ID), Bonus: t.Name.Bonus(), By: BySpeed, Card: card, Baseline: said[1], Workload: said[6]}
		i := slices.IndexFunc(all, func(l Leaderboard) bool { return l.Card == table.Card && l.Workload == table.Workload })
		if i < 0 {
			i = len(all)
			all = append(all, table)
		}
		all[i].Rows = append(all[i].Rows, Place{Name: e.Shown.Name, Ratio: p.Ratio, Says: fmt.Sprintf("%s beside %s; %s to %s", said[4], said[5], said[2], said[3])})
	}
	slices.SortStableFunc(all, func(a, b Leaderboard) int {
		return cmp.Or(strings.Compare(a.Card, b.Card), strings.Compare(a.Workload, b.Workload))
	})
	return all
}

// speedNote is what a verdict says about a time: the baseline, the quartiles, both times, the workload.
var speedNote = regexp.MustCompile(`^[\d.]+ × the speed of (.+) \((\S+) to (\S+); (\S+) beside (\S+); full from [^ )]+ on\): (.+)$`)

// moved is the table of bytes, each student's worst case.
func moved(entries []Entry, at int, t *rubric.Task, rc rubric.Check) []Leaderboard {
	table := Leaderboard{Task: t.Name, Check: rc.ID, Title: t.Title + ": " + first(rc.Title, rc.ID), Bonus: t.Name.Bonus(), By: ByTraffic}
	for _, e := range entries {
		k := honest(e.Tasks[at], rc.ID)
		if k == nil || !e.OnBoard() {
			continue
		}
		worst := verdict.Outcome{}
		for _, o := range k.Cases {
			if o.Traffic && o.Ratio() > worst.Ratio() {
				worst = o
			}
		}
		if worst.Ratio() > 0 {
			table.Rows = append(table.Rows, Place{Name: e.Shown.Name, Ratio: worst.Ratio()})
		}
	}
	if len(table.Rows) == 0 {
		return nil
	}
	return []Leaderboard{table}
}

// rank puts the best first. Ratios that read the same share a place.
func (l *Leaderboard) rank() {
	for i := range l.Rows {
		l.Rows[i].Ratio = round(l.Rows[i].Ratio)
	}
	slices.SortFunc(l.Rows, func(a, b Place) int {
		better := cmp.Compare(b.Ratio, a.Ratio)
		if l.By == ByTraffic {
			better = -better
		}
		if Ratio(a.Ratio) == Ratio(b.Ratio) {
			better = 0
		}
		return cmp.Or(better, strings.Compare(a.Name, b.Name))
	})
	for i := range l.Rows {
		l.Rows[i].Place = i + 1
		if i > 0 && Ratio(l.Rows[i].Ratio) == Ratio(l.Rows[i-1].Ratio) {
			l.Rows[i].Place = l.Rows[i-1].Place
		}
	}
}

// Ratio is one as a leaderboard shows it.
func Ratio(x float64) string { return fmt.Sprintf("%.2f", x) }

// cardOf is the GPU that a task was measured on, by its kind; "" for none, and where two runs with different cards were
// joined. A record names it in words: "NVIDIA H100 (1a2b), safety and traffic in the simulator".
func cardOf(device string) string {
	card := ""
	for _, one := range strings.Split(device, "; ") {
		name, _, _ := strings.Cut(one, ", safety and traffic in the simulator")
		name = oneOf.ReplaceAllString(name, "")
		switch {
		case strings.HasPrefix(name, "the simulator") || name == "":
		case card != "" && card != name:
			return ""
		default:
			card = name
		}
	}
	return card
}

// oneOf is what tells a card from others of its kind.
var oneOf = regexp.MustCompile(` \((?:number \d+|[0-9a-f]+)\)$`)
