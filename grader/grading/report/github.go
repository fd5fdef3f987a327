package report

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"flashlab/grader/grading/verdict"
)

// Annotations are the workflow commands with which GitHub Actions marks the lines of a repository: one for each
// finding, and for each line that the gate or the compiler refused. GitHub shows the first ten of a step.
func Annotations(verdicts []verdict.Verdict) (all []string) {
	for _, v := range verdicts {
		for line := range strings.Lines(v.Refused) {
			if m := refusedAt.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				all = append(all, annotation(inTree(v, m[1]), m[2], m[3], "not run", m[4]))
			}
		}
		for _, c := range v.Checks {
			for _, f := range c.Findings {
				text := f.String()
				if f.Again != "" {
					text += "\n    again, with what this thread prints: " + f.Again
				}
				line, column := "", ""
				if f.Line > 0 {
					line = fmt.Sprint(f.Line)
				}
				if f.Column > 0 {
					column = fmt.Sprint(f.Column)
				}
				all = append(all, annotation(inTree(v, f.File), line, column, c.Title+": "+f.Kind, text))
			}
		}
	}
	return all
}

// refusedAt is a line of the gate or of a compiler.
var refusedAt = regexp.MustCompile(`^(\S+\.(?:go|cu)):(\d+)(?::(\d+))?: (.*)$`)

// inTree is a file's name from the repository's top.
func inTree(v verdict.Verdict, file string) string {
	if file == "" || strings.Contains(file, "/") {
		return file
	}
	return path.Join(v.Dir, file)
}

func annotation(file, line, column, title, text string) string {
	var properties []string
	for _, p := range [][2]string{{"file", file}, {"line", line}, {"col", column}, {"title", title}} {
		if p[1] != "" {
			properties = append(properties, p[0]+"="+property.Replace(p[1]))
		}
	}
	return "::error " + strings.Join(properties, ",") + "::" + message.Replace(text)
}

// What has a meaning in a workflow command is written as GitHub's runner reads it.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// JobSummary is what GitHub shows on a run's page, in Markdown: a table of the tasks, and below it each task.
func JobSummary(verdicts []verdict.Verdict) string {
	var b strings.Builder
	b.WriteString("# Grading\n\n| task | points | of | |\n| --- | --- | --- | --- |\n")
	for _, v := range verdicts {
		got, most := v.Points()
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s |\n", v.Task, v.Title, Points(got), Points(most), strings.TrimPrefix(measuredHere(v.Checks), " measured here; "))
	}
	b.WriteString("\n")
	for _, v := range verdicts {
		b.WriteString(Section(v))
	}
	return b.String()
}
