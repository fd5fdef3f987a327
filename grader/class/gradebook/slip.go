package gradebook

import (
	"fmt"
	"slices"

	"flashlab/grader/class/record"
)

// Slip days are spent by the grader, in the student's favour: such that the points of all tasks together are as high as
// they can be; then those of the bonus tasks; and with as few days as that takes. A day makes a late task one day less
// late. A task is either helped by its days, or gets none. What is not measured yet has no points, so a later mark may
// move days from one task to another.

// gain is what a choice of days is worth, the first thing first.
type gain struct {
	course, bonus float64
	days          int
}

func (g gain) add(other gain) gain {
	return gain{g.course + other.course, g.bonus + other.bonus, g.days + other.days}
}

// better compares two; differences that nobody would see in points do not count.
func (g gain) better(than gain) bool {
	const same = 1e-7
	switch {
	case g.course > than.course+same || g.course < than.course-same:
		return g.course > than.course
	case g.bonus > than.bonus+same || g.bonus < than.bonus-same:
		return g.bonus > than.bonus
	}
	return g.days < than.days
}

// spend picks an attempt for each task, and spends the budget on them.
func (c Class) spend(all [][]Task) (tasks []Task, spent int) {
	budget := c.Course.Late.Slip
	// best[n] is the best of the tasks so far with at most n days; chosen has the days of each.
	best := make([]gain, budget+1)
	chosen := make([][]int, budget+1)
	for _, candidates := range all {
		var gains []gain // of 0 days, 1 day, …: no more than help
		for k := 0; k <= min(budget, mostDays(candidates)); k++ {
			gains = append(gains, c.with(candidates, k).worth(k))
		}
		next, more := make([]gain, budget+1), make([][]int, budget+1)
		for n := range next {
			for k := 0; k <= n && k < len(gains); k++ {
				worth := best[n-k].add(gains[k])
				if more[n] == nil || worth.better(next[n]) {
					next[n], more[n] = worth, append(slices.Clone(chosen[n-k]), k)
				}
			}
		}
		best, chosen = next, more
	}
	for i, candidates := range all {
		k := chosen[budget][i]
		one := c.with(candidates, k)
		c.settle(&one, k)
		spent += k
		tasks = append(tasks, one)
	}
	return tasks, spent
}

func mostDays(candidates []Task) (most int) {
	for _, t := range candidates {
		most = max(most, t.Days)
	}
	return most
}

// worth is what the task comes to, with days spent on it.
func (t Task) worth(days int) gain {
	if t.Rubric.Name.Bonus() {
		return gain{bonus: t.Final, days: days}
	}
	return gain{course: t.Final, days: days}
}

// with is the candidate that has most points with so many days, the first of equals.
func (c Class) with(candidates []Task, days int) (best Task) {
	for i, one := range candidates {
		one.Factor = c.left(one.Days - days)
		one.Final = round(one.Points * one.Factor)
		if i == 0 || one.Final > best.Final {
			best = one
		}
	}
	return best
}

// settle writes down what lateness came to.
func (c Class) settle(t *Task, slip int) {
	t.Slip = slip
	if t.Days == 0 {
		return
	}
	words := days(t.Days) + " late, "
	if slip > 0 {
		words += slipDays(slip) + " spent, "
	}
	t.Notes = append(slices.Clone(t.Notes), forAll(words+taken(t.Factor)))
}

func slipDays(n int) string { return record.Plural(n, "slip day") }

// SlipSentence says how many days are spent and left; "" in a course without.
func (e Entry) SlipSentence() string {
	if e.SlipOf == 0 {
		return ""
	}
	return fmt.Sprintf("slip days: %d of %d spent, %d left", e.Slip, e.SlipOf, e.SlipOf-e.Slip)
}
