package report

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/verdict"
)

// Section describes a verdict in Markdown, below a heading.
func Section(v verdict.Verdict) string {
	return fmt.Sprintf("## Task %s: %s\n\n%s", v.Task, v.Title, block(v, whole))
}

// block is the same without the heading: the points, a line a check, and what went wrong. say writes a finding out.
func block(v verdict.Verdict, say func(verdict.Found) []string) string {
	var b strings.Builder
	got, most := v.Points()
	fmt.Fprintf(&b, "%s of %s points%s; on %s, seed %d (`%s`).\n", Points(got), Points(most), measuredHere(v.Checks), v.Device, v.Seed, v.Again)
	if v.Versions != "" {
		fmt.Fprintf(&b, "%s.\n", v.Versions)
	}
	if v.Release != "" {
		fmt.Fprintf(&b, "Course: %s.\n", v.Release)
	}
	b.WriteString("\n")
	if v.Refused != "" {
		fmt.Fprintf(&b, "The submission was not run:\n\n```\n%s\n```\n\n", fenced(limit(v.Refused, 40)))
	}
	b.WriteString("| check | points | |\n| --- | --- | --- |\n")
	for _, c := range v.Checks {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Title, tallyOf(c), cell(says(c)))
	}
	b.WriteString("\n")
	if lines := wrong(v, say); len(lines) > 0 {
		fmt.Fprintf(&b, "```text\n%s\n```\n\n", fenced(strings.Join(lines, "\n")))
	}
	return b.String()
}

// whole is all there is to a finding: its line, the threads, the hint, and the command that repeats it.
func whole(f verdict.Found) []string {
	lines := strings.Split(f.String(), "\n")
	if f.Again != "" {
		lines = append(lines, "    again, with what this thread prints: "+f.Again)
	}
	return lines
}

// headline is its place, and what is wrong there.
func headline(f verdict.Found) []string { return []string{f.Headline()} }

// says is what there is to know about a check besides its points: each part that is less than it
// could be, then what was measured.
func says(c verdict.Check) string {
	if idle := idle(c); idle != "" {
		return idle
	}
	var all []string
	for _, p := range c.Parts {
		if lost(p) {
			all = append(all, fmt.Sprintf("%s: %s", strings.TrimSpace(p.Name+" "+shareOf(verdict.Verdict{}, c, p)), note(p)))
			all = append(all, Reasons(c, p)...)
		}
	}
	for _, p := range c.Parts {
		if p.Note != "" && p.NotMeasured == "" && !lost(p) && (p.Name == "traffic" || p.Name == "speed") {
			all = append(all, p.Note)
		}
	}
	if !c.Optional {
		all = append(all, beside(c.Parts)...)
	}
	for _, p := range c.Parts {
		if p.Estimate != nil {
			all = append(all, "estimate: "+estimated(*p.Estimate))
		}
	}
	return strings.Join(all, "; ")
}

// cell keeps a text inside a cell of a table, and away from our markers.
func cell(s string) string {
	return strings.NewReplacer("|", "/", "\n", " ", "<", "&lt;").Replace(s)
}

// wrong lists what the terminal says at length, findings and failures, with an empty line between one
// and the next.
func wrong(v verdict.Verdict, say func(verdict.Found) []string) []string {
	var lines []string
	given := reasons{}
	add := func(more ...string) {
		if len(lines) > 0 && len(more) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, more...)
	}
	for _, c := range v.Checks {
		if idle(c) != "" {
			continue
		}
		for i, f := range c.Findings {
			if i == maxFindings {
				add(andMore(len(c.Findings) - i))
				break
			}
			add(say(f)...)
		}
		groups, hidden := Failures(c)
		for i, g := range groups {
			if i == maxCases {
				add("also: " + strings.Join(first(names(groups[i:]), 8), ", "))
				break
			}
			add(given.once(g).Lines()...)
		}
		if hidden > 0 {
			add(fmt.Sprintf("hidden cases that failed: %d", hidden))
		}
		add(printLines(v, c)...)
	}
	return lines
}

// fenced keeps a text from ending its code block or ours.
func fenced(s string) string {
	return strings.NewReplacer("```", "'''", "<!--", "<! --", "\n## ", "\n ## ").Replace(s)
}
