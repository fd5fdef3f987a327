package course

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// Form is how times are written in course.toml and in the instructor's tables. A time
// with its own zone is written as RFC 3339.
const Form = "2006-01-02 15:04"

// settle fills what was left out, and checks what needs no tree.
func (c *Course) settle() (err error) {
	if c.Title == "" {
		c.Title = "flashlab"
	}
	if c.location, err = time.LoadLocation(c.Timezone); err != nil {
		return wrong("timezone", "= %q: want a name like \"Europe/Berlin\" or \"UTC\"", c.Timezone)
	}
	switch c.Attempt {
	case "":
		c.Attempt = Last
	case Last, Best, First:
	default:
		return wrong("attempt", "= %q: want last, best or first", c.Attempt)
	}
	if c.limit, err = duration("limit", c.Limit, defaultLimit); err != nil {
		return err
	}
	if err := c.settleLate(); err != nil {
		return err
	}
	if s := c.Speed; s != nil && !(s.None > 0 && s.Full > s.None) {
		return wrong("speed", "has none = %v and full = %v: want 0 < none < full, both as a ratio to the baseline's speed", s.None, s.Full)
	}
	if err := visible("visibility.results", &c.Visibility.Results, "visible"); err != nil {
		return err
	}
	if err := visible("visibility.hidden", &c.Visibility.Hidden, c.Visibility.Results); err != nil {
		return err
	}
	if c.Visibility.Hidden == "visible" && c.Visibility.Results != "visible" {
		return wrong("visibility.hidden", "= \"visible\", though visibility.results = %q: hidden cases cannot be seen before the rest", c.Visibility.Results)
	}
	return c.settleManual()
}

// mostSlip are more slip days than a term has.
const mostSlip = 200

func (c *Course) settleLate() (err error) {
	switch l := c.Late; {
	case l.Days < 0:
		return wrong("late.days", "= %d: want how many days late a task still earns points", l.Days)
	case l.Slip < 0 || l.Slip > mostSlip:
		return wrong("late.slip", "= %d: want how many slip days a student has for the whole term, at most %d", l.Slip, mostSlip)
	case !(l.Percent >= 0 && l.Percent <= 100):
		return wrong("late.percent", "= %v: want 0 to 100 for each day", l.Percent)
	}
	c.grace, err = duration("late.grace", c.Late.Grace, 0)
	return err
}

func (c *Course) settleManual() error {
	seen := map[string]bool{}
	for i := range c.Manual {
		m := &c.Manual[i]
		sum := 0.0
		for key, points := range m.Questions {
			n, err := strconv.Atoi(key)
			if err != nil || n < 1 || strconv.Itoa(n) != key || !(points > 0) {
				return wrong("manual.questions", "has %s = %v: want questions' numbers with points above 0, as { 1 = 0.5, 2 = 0.5 }", key, points)
			}
			sum += points
		}
		if m.Points == 0 {
			m.Points = sum
		}
		if len(m.Questions) > 0 && math.Abs(sum-m.Points) > 1e-9 {
			return wrong("manual.points", "= %v: the questions of %s have %v; leave it out, or make both the same", m.Points, m.ID, sum)
		}
		switch {
		case m.ID == "" || strings.ContainsAny(m.ID, "/, ") || seen[m.ID]:
			return wrong("manual.id", "= %q: want a unique id, without blanks, commas or slashes", m.ID)
		case !(m.Points > 0):
			return wrong("manual.points", "= %v: %s needs points above 0", m.Points, m.ID)
		}
		seen[m.ID] = true
	}
	return nil
}

// known checks what names tasks and a variant against those that there are, and sets the tasks' deadlines.
func (c *Course) known(have []registry.Name, variants []string) error {
	if c.Variant != "" && !slices.Contains(variants, c.Variant) {
		return wrong("variant", "= %q: %w; leave it out for the plain course", c.Variant, rubric.NoVariant(c.Variant, variants))
	}
	for i, n := range c.Tasks {
		if !slices.Contains(have, n) || slices.Contains(c.Tasks[:i], n) {
			return wrong("tasks", "= %v: want numbers of %v, each once", c.Tasks, have)
		}
	}
	for _, m := range c.Manual {
		if !slices.Contains(have, m.Task) {
			return wrong("manual.task", "= %s: %s needs a task of %v", m.Task, m.ID, have)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Canvas.Tasks)) {
		if !slices.Contains(have, registry.Name(key)) {
			return wrong("canvas.tasks."+key, "is for no task that there is: there are %v", have)
		}
	}
	c.due = map[registry.Name]time.Time{}
	for _, n := range have {
		due, err := c.When("deadline", c.Deadline)
		if err != nil {
			return err
		}
		if !due.IsZero() {
			c.due[n] = due
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Task)) {
		one := c.Task[key]
		if !slices.Contains(have, registry.Name(key)) {
			return wrong("task."+key, "is for no task that there is: there are %v", have)
		}
		if !(one.Points >= 0) {
			return wrong("task."+key+".points", "= %v: want more than 0; omit it to use the rubric's", one.Points)
		}
		due, err := c.When("task."+key+".deadline", one.Deadline)
		if err != nil {
			return err
		}
		if !due.IsZero() {
			c.due[registry.Name(key)] = due
		}
	}
	return nil
}

// When reads a time, in the course's zone where it has none of its own; zero for "".
// key names it in the error.
func (c *Course) When(key, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{Form, "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(form, s, c.location); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Time{}, wrong(key, "= %q: want a time like \"2026-12-01 23:59\"", s)
}

func duration(key, s string, without time.Duration) (time.Duration, error) {
	if s == "" {
		return without, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, wrong(key, "= %q: want a duration like \"15m\" or \"1h30m\"", s)
	}
	return d, nil
}

func visible(key string, v *string, without string) error {
	switch *v {
	case "":
		*v = without
	case "visible", "hidden", "after_due_date", "after_published":
	default:
		return wrong(key, "= %q: want visible, hidden, after_due_date or after_published", *v)
	}
	return nil
}
