package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
)

// Group is what went wrong in the same way in one or more cases.
type Group struct {
	Names   []string // "softmax/17x113"
	Reason  string
	Details []string
	Again   string // repeats the first of them
	compile bool   // kernels that do not compile
	values  bool   // wrong ones, not an error
	size    int    // of the first of them
	largest outcome
}

// outcome is what the largest case of a group says, which may know more of a tile's size.
type outcome struct {
	name, reason string
	size         int
}

// reasons are told once, of what does not compile: the same file is every check's.
type reasons map[string]string

func (t reasons) once(g Group) Group {
	if !g.compile {
		return g
	}
	if first, before := t[g.Reason]; before {
		g.Reason, g.Again = "does not compile, as said of "+first, ""
	} else {
		t[g.Reason] = g.Names[0]
	}
	return g
}

// digits may differ between failures of the same kind: "index out of range [17]".
var digits = regexp.MustCompile(`-?\d+(\.\d+)?(e[+-]?\d+)?`)

// Failures sorts a check's failed cases by what went wrong. The smallest case leads, of a group and of all
// groups, behind what does not compile: it is repeated soonest, and its numbers can be worked out by hand.
// Hidden cases are counted, not described.
func Failures(c verdict.Check) (groups []Group, hidden int) {
	at := map[string]int{}
	for _, k := range c.Cases {
		switch {
		case k.Passed:
			continue
		case k.Hidden:
			hidden++
			continue
		}
		name := c.ID + "/" + k.Name
		key := k.Class + digits.ReplaceAllString(k.Reason, "0")
		g := Group{Names: []string{name}, Reason: k.Reason, Details: k.Details, Again: k.Again,
			compile: k.Class == doesNotCompile, values: k.Class == "", size: size(k), largest: outcome{name, k.Reason, size(k)}}
		if k.Class == notImplemented || k.Class == notRun {
			g.Again = "" // to run it again tells nothing
		}
		i, seen := at[key]
		switch {
		case !seen:
			at[key] = len(groups)
			groups = append(groups, g)
		case g.size < groups[i].size:
			g.Names, g.largest = append(g.Names, groups[i].Names...), groups[i].largest
			groups[i] = g
		default:
			groups[i].Names = append(groups[i].Names, name)
			if g.size > groups[i].largest.size {
				groups[i].largest = g.largest
			}
		}
	}
	for i, g := range groups {
		// Among few numbers a tile of 16 looks like one of 128: the largest case knows better.
		if here, _, _ := strings.Cut(g.largest.reason, "\n"); g.values && g.largest.reason != g.Reason && strings.Contains(here, "tile") {
			groups[i].Details = append(slices.Clone(g.Details), fmt.Sprintf("in the largest, %s: %s", g.largest.name, here))
		}
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		if a.compile != b.compile {
			return map[bool]int{true: -1, false: 1}[a.compile]
		}
		return cmp.Compare(a.size, b.size)
	})
	return groups, hidden
}

// size is about how much work a case is.
func size(k verdict.Outcome) int {
	n := 1
	for _, d := range k.Shape {
		n *= max(d, 1)
	}
	return n
}

// names are the cases of several groups.
func names(groups []Group) (all []string) {
	for _, g := range groups {
		all = append(all, g.Names...)
	}
	return all
}

// Lines describes a group in plain text.
func (g Group) Lines() []string {
	lines := []string{strings.Join(first(g.Names, 4), ", ")}
	for _, l := range append(strings.Split(limit(g.Reason, maxReason), "\n"), g.Details...) {
		lines = append(lines, "  "+l)
	}
	if g.Again != "" {
		lines = append(lines, "  again: "+g.Again)
	}
	return lines
}

// first keeps the first names, and counts the others.
func first(names []string, n int) []string {
	if len(names) <= n {
		return names
	}
	return append(append([]string{}, names[:n-1]...), fmt.Sprintf("and %d more", len(names)-n+1))
}

func (p Printer) failures(c verdict.Check, given reasons) {
	groups, _ := Failures(c) // the part of hidden cases says how many failed
	for i, g := range groups {
		if i == maxCases {
			fmt.Fprintf(p.W, "\n%s also: %s\n", p.colour("✗", text.FgRed), strings.Join(names(groups[i:]), ", "))
			break
		}
		lines := given.once(g).Lines()
		fmt.Fprintf(p.W, "\n%s %s\n%s\n", p.colour("✗", text.FgRed), p.colour(lines[0], text.Bold), strings.Join(lines[1:], "\n"))
	}
}

// andMore stands for findings that are not shown.
func andMore(n int) string {
	if n == 1 {
		return "and 1 more finding, which may well come from these"
	}
	return fmt.Sprintf("and %d more findings, which may well come from these", n)
}

func (p Printer) findings(c verdict.Check) {
	for i, f := range c.Findings {
		if i == maxFindings {
			fmt.Fprintf(p.W, "\n%s\n", andMore(len(c.Findings)-i))
			break
		}
		head, rest, more := strings.Cut(f.String(), "\n")
		fmt.Fprintf(p.W, "\n%s\n", p.colour(head, text.FgYellow))
		if more {
			fmt.Fprintln(p.W, rest)
		}
		if f.Again != "" {
			fmt.Fprintln(p.W, "    again, with what this thread prints: "+f.Again)
		}
	}
}
