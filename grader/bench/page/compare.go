package page

import (
	"fmt"
	"math"
	"strings"

	"flashlab/grader/grading/race"
)

// Pair is one median of ratios in two runs: their time over ours.
type Pair struct {
	What    string // "flash-4-128-full beside SDPA"
	Was, Is float64
}

// Apart is how far the new one is from the old.
func (p Pair) Apart() float64 { return math.Abs(p.Is/p.Was - 1) }

// Elsewhere says that this task was measured on another card than in the document.
func (d Document) Elsewhere(p Part) bool {
	old, pairs := d.Pairs(p)
	return len(pairs) > 0 && old.Before.another(p.Before)
}

// Within is how far the same bench twice may be apart.
const Within = 0.03

// Pairs are the ratios that a new run of a task and the run that the document holds
// have in common; old is the latter.
func (d Document) Pairs(p Part) (old Part, pairs []Pair) {
	for _, old = range d.Parts {
		if old.Task != p.Task {
			continue
		}
		for _, r := range p.Rows {
			pairs = append(pairs, old.rowPairs(r)...)
		}
		for _, c := range p.Models {
			pairs = append(pairs, old.modelPairs(c)...)
		}
		return old, pairs
	}
	return Part{}, nil
}

func (p Part) rowPairs(r race.Row) (pairs []Pair) {
	for i := range p.Rows {
		if p.Rows[i].ID != r.ID {
			continue
		}
		for _, e := range r.Entries[min(1, len(r.Entries)):] {
			before := p.Rows[i].Entry(e.Name)
			if before == nil {
				continue
			}
			if was, is := p.Rows[i].Ratio(*before), r.Ratio(e); was.N > 0 && is.N > 0 {
				pairs = append(pairs, Pair{r.ID + " beside " + e.Name, was.Median, is.Median})
			}
		}
	}
	return pairs
}

func (p Part) modelPairs(c Model) (pairs []Pair) {
	for _, before := range p.Models {
		if before.Name != c.Name || len(before.Ours)*len(c.Ours) == 0 {
			continue
		}
		for _, other := range c.beside() {
			for _, old := range before.beside() {
				if old.Name != other.Name || len(old.Times)*len(other.Times) == 0 || old.Differ+other.Differ != "" {
					continue
				}
				for _, l := range latencies {
					if !l.both(c, other) || !l.both(before, old) {
						continue
					}
					was, _, _ := l.ratio(before, old)
					is, _, _ := l.ratio(c, other)
					pairs = append(pairs, Pair{c.Name + ", " + l.name + " beside " + other.Name, was, is})
				}
			}
		}
	}
	return pairs
}

// Compare tells how far the ratios of a new run are from those of the task's stored
// run: the same bench twice should give the same.
func (d Document) Compare(p Part) string {
	old, pairs := d.Pairs(p)
	if len(pairs) == 0 {
		return ""
	}
	worst := pairs[0]
	for _, one := range pairs {
		if one.Apart() >= worst.Apart() {
			worst = one
		}
	}
	where := ""
	if old.Before.another(p.Before) {
		where = ", on another card"
	}
	return fmt.Sprintf("Beside the run of %s (commit %s%s): %d medians of ratios, at most %.1f %% apart (%s: %.3f and %.3f)",
		old.Date.UTC().Format("2 January 2006, 15:04 UTC"), known(old.Commit), where, len(pairs), 100*worst.Apart(), worst.What, worst.Was, worst.Is)
}

// Again is a table of the ratios that are further apart than Within, and a line that
// says how many are not.
func Again(pairs []Pair) string {
	if len(pairs) == 0 {
		return "The two runs have no ratio in common."
	}
	var s strings.Builder
	within := 0
	for _, p := range pairs {
		if p.Apart() <= Within {
			within++
			continue
		}
		if s.Len() == 0 {
			fmt.Fprintf(&s, "%8s %8s %8s  their time over ours\n", "before", "now", "apart")
		}
		fmt.Fprintf(&s, "%8.3f %8.3f %+6.1f %%  %s\n", p.Was, p.Is, 100*(p.Is/p.Was-1), p.What)
	}
	fmt.Fprintf(&s, "%d of %d ratios within %.0f %%", within, len(pairs), 100*Within)
	return s.String()
}
