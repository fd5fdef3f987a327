package report

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// Next is the last line: what a student does now.
func (p Printer) Next(verdicts []verdict.Verdict) {
	fmt.Fprintln(p.W, p.colour("Next: "+next(verdicts), text.Bold))
}

func next(verdicts []verdict.Verdict) string {
	for _, v := range verdicts {
		if !v.Full() {
			return mend(v) + aHint(v)
		}
	}
	last := verdicts[len(verdicts)-1]
	switch after, ok := following(last.Task); {
	case last.Partly != "":
		return "make grade TASK=" + string(last.Task) + ", which grades all of it"
	case ok && last.Task.WarmUp():
		return fmt.Sprintf("task %s, %s/README.md", after.Name, after.Dir)
	case ok && len(verdicts) == 1:
		return fmt.Sprintf("the questions of %s/README.md, in Results.md; then task %s, %s/README.md", last.Dir, after.Name, after.Dir)
	}
	return "the handouts' questions, in Results.md; then make pack"
}

// following is the task after this one in the same folder: bonus tasks follow bonus tasks only.
func following(name registry.Name) (registry.Task, bool) {
	one, err := registry.All.Find(string(name))
	if err != nil {
		return one, false
	}
	i := slices.Index(registry.All, one)
	for _, t := range registry.All[i+1:] {
		if path.Dir(t.Dir) == path.Dir(one.Dir) {
			return t, true
		}
	}
	return one, false
}

// aHint is where the warm-up's are: its puzzles have one each, of their number.
func aHint(v verdict.Verdict) string {
	if !v.Task.WarmUp() || v.Refused != "" {
		return ""
	}
	for _, c := range inTurn(v) {
		if number, _, ok := strings.Cut(c.Title, " "); ok && !tallyOf(c).full() {
			return fmt.Sprintf(" (a hint: make hint TASK=%s HINT=%s)", v.Task, number)
		}
	}
	return ""
}

// inTurn are a task's checks in the order in which a student should look at them. The warm-up's puzzles are done one by
// one, and two of them are given, and wrong. Optional checks come last.
func inTurn(v verdict.Verdict) []verdict.Check {
	if v.Task.WarmUp() {
		return v.Checks
	}
	optional := slices.DeleteFunc(slices.Clone(v.Checks), func(c verdict.Check) bool { return !c.Optional })
	return append(wrongFirst(verdict.Scored(v.Checks)), optional...)
}

// mend names the first thing in a task that costs points, and what helps with it.
func mend(v verdict.Verdict) string {
	handout := v.Dir + "/README.md"
	if v.Refused != "" {
		return fmt.Sprintf("fix the errors above, then make grade TASK=%s", v.Task)
	}
	for _, c := range inTurn(v) {
		groups, hidden := Failures(c)
		switch t := tallyOf(c); {
		case t.full() || t.held || t.most == 0 && !onlyOptional(v):
			continue
		case idle(c) == stillTheStub:
			return fmt.Sprintf("%s is still the stub: %s says where to start", c.Title, handout)
		case waits(c):
			continue // for another check, which says what to do
		case len(groups) > 0 && groups[0].compile:
			return fmt.Sprintf("fix %s, which does not compile; then make grade TASK=%s", cmp.Or(lineOf.FindString(groups[0].Reason), "the kernels"), v.Task)
		case len(c.Findings) > 0:
			f := c.Findings[0]
			if i := slices.IndexFunc(c.Findings, func(f verdict.Found) bool { return f.File != "" }); i > 0 {
				f = c.Findings[i] // one that says where
			}
			return fmt.Sprintf("%s, what the simulator found in %s; then make grade TASK=%s CASE=%s", c.Title, where(f), v.Task, c.ID)
		case len(groups) > 0 && groups[0].Again != "":
			return fmt.Sprintf("%s alone: %s", groups[0].Names[0], groups[0].Again)
		case len(groups) > 0:
			return fmt.Sprintf("%s, %s: %s", c.Title, groups[0].Names[0], short(groups[0].Reason))
		case hidden > 0:
			return fmt.Sprintf("%s is wrong in a hidden case: try odd sizes and large values in tests of your own", c.Title)
		}
		var names []string
		for _, p := range c.Parts {
			if lost(p) {
				names = append(names, p.Name)
			}
		}
		return fmt.Sprintf("%s of %s: %s has hints", strings.Join(names, " and "), c.Title, handout)
	}
	if len(v.Held) > 0 {
		return "an instructor will review the held checks; you need do nothing"
	}
	return "nothing was measured here; the reason is above"
}

// wrongFirst puts checks whose results are wrong before those that are right and lose points otherwise:
// what is wrong costs more, and is nearer to done. Stubs, and what did not run, stay where they are among the others.
func wrongFirst(checks []verdict.Check) []verdict.Check {
	wrong := func(c verdict.Check) bool {
		groups, hidden := Failures(c)
		return idle(c) == "" && len(c.Findings)+len(groups)+hidden > 0
	}
	sorted := slices.Clone(checks)
	slices.SortStableFunc(sorted, func(a, b verdict.Check) int {
		switch x, y := wrong(a), wrong(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return sorted
}

// waits tells whether nothing of a check ran because another check has no case right yet.
func waits(c verdict.Check) bool { return strings.HasSuffix(idle(c), verdict.ComesFirst) }

// lineOf is where a compiler's message points: "kernels.cu:43".
var lineOf = regexp.MustCompile(`^[^\s:]+:\d+`)

func where(f verdict.Found) string {
	if f.File == "" {
		return "it"
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
