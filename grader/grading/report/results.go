package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"flashlab/grader/grading/verdict"
	"flashlab/internal/cache"
)

// The grader writes between the markers, and nowhere else.
const (
	begin = "<!-- flashlab:begin -->"
	end   = "<!-- flashlab:end -->"
)

const newResults = `# Results

What ` + "`make grade`" + ` measured is between the two markers below, and is
rewritten each time. Everything else in this file is yours.

` + begin + "\n" + end + `

## Answers

Your answers to the questions in the handouts go here.
`

// UpdateResults writes the verdicts into Results.md, which is made if need be.
// A task that was not graded this time keeps its rows.
func UpdateResults(name string, verdicts []verdict.Verdict) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		data, err = []byte(newResults), nil
	}
	if err != nil {
		return err
	}
	content := string(data)
	from, to := strings.Index(content, begin), strings.Index(content, end)
	switch {
	case from < 0 && to < 0: // a student's own file: add a place at the end
		content = strings.TrimRight(content, "\n") + "\n\n" + begin + "\n" + end + "\n"
		from, to = strings.Index(content, begin), strings.Index(content, end)
	case from < 0 || to < from:
		return fmt.Errorf("%s: the markers %s and %s are not both there, in this order: restore them, or remove both", name, begin, end)
	}
	sections := split(content[from+len(begin) : to])
	for _, v := range verdicts {
		sections = put(sections, Section(v))
	}
	content = content[:from+len(begin)] + "\n" + strings.Join(sections, "") + content[to:]
	return cache.WriteFile(name, []byte(content), 0o644)
}

// split cuts the text between the markers into one section per task.
func split(s string) []string {
	var sections []string
	for i, part := range strings.Split("\n"+strings.TrimSpace(s), "\n## ") {
		if i > 0 {
			sections = append(sections, "## "+strings.TrimRight(part, "\n")+"\n\n")
		}
	}
	return sections
}

// put replaces a task's section, or adds it in its place.
func put(sections []string, s string) []string {
	title := heading(s)
	for i, old := range sections {
		switch {
		case heading(old) == title:
			sections[i] = s
			return sections
		case heading(old) > title:
			return append(sections[:i], append([]string{s}, sections[i:]...)...)
		}
	}
	return append(sections, s)
}

// heading is "## Task 2", without the title, which may change.
func heading(s string) string {
	h, _, _ := strings.Cut(s, ":")
	return h
}

// Section describes a verdict in Markdown: a heading, the points, and what went wrong.
func Section(v verdict.Verdict) string {
	var b strings.Builder
	got, most := v.Points()
	fmt.Fprintf(&b, "## Task %s: %s\n\n", v.Task, v.Title)
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
	b.WriteString("| check | part | points | |\n| --- | --- | --- | --- |\n")
	for _, c := range v.Checks {
		for _, p := range c.Parts {
			points := Points(p.Score)
			if p.NotMeasured != "" {
				points = "–"
			}
			words := strings.ReplaceAll(note(p), "|", "/")
			if p.Error > 0 {
				words += fmt.Sprintf(", errors up to %.0f%% of what is allowed", math.Ceil(100*p.Error))
			}
			fmt.Fprintf(&b, "| %s | %s | %s of %s | %s |\n", c.Title, p.Name, points, Points(p.Max), words)
		}
	}
	b.WriteString("\n")
	if lines := wrong(v); len(lines) > 0 {
		fmt.Fprintf(&b, "```text\n%s\n```\n\n", fenced(strings.Join(lines, "\n")))
	}
	return b.String()
}

// wrong lists what the terminal says at length, findings, failures and prints,
// with an empty line between one and the next.
func wrong(v verdict.Verdict) []string {
	var lines []string
	add := func(more ...string) {
		if len(lines) > 0 && len(more) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, more...)
	}
	for _, c := range v.Checks {
		for i, f := range c.Findings {
			if i == maxFindings {
				add(andMore(len(c.Findings) - i))
				break
			}
			add(f.Headline())
		}
		groups, hidden := Failures(c)
		for i, g := range groups {
			if i == maxCases {
				add("also: " + strings.Join(first(names(groups[i:]), 8), ", "))
				break
			}
			add(g.Lines()...)
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
