package intake

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
)

// Bounds on what is kept of a student's text.
const (
	longestAnswer = 4000 // bytes
	mostAnswers   = 200
)

var (
	taskHeading     = regexp.MustCompile(`^## Task (\S+?):`)
	questionHeading = regexp.MustCompile(`^#### (\d+)\. `)
	otherHeading    = regexp.MustCompile(`^(#{1,4} |<!-- flashlab)`)
)

// Answers are what stands below the questions in a Results.md. Those that are still '…' or empty are
// left out.
func Answers(results []byte) (all []record.Answer) {
	var task registry.Name
	var current *record.Answer
	fenced := false
	var lines []string
	end := func() {
		if current == nil {
			return
		}
		if text := strings.Trim(strings.Join(lines, "\n"), "\n \t"); text != "" && text != "…" && text != "..." && len(all) < mostAnswers {
			current.Text = bounded(text)
			all = append(all, *current)
		}
		current, lines = nil, nil
	}
	for line := range strings.Lines(strings.ToValidUTF8(string(results), "�")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		switch m := questionHeading.FindStringSubmatch(line); {
		case fenced:
		case m != nil && task != "":
			end()
			n, _ := strconv.Atoi(m[1])
			current = &record.Answer{Task: task, Number: n}
			continue
		case otherHeading.MatchString(line):
			end()
			if t := taskHeading.FindStringSubmatch(line); t != nil {
				task = registry.Name(t[1])
			}
			continue
		}
		if current != nil {
			lines = append(lines, strings.TrimRight(line, " \t"))
		}
	}
	end()
	return all
}

func bounded(s string) string {
	if len(s) <= longestAnswer {
		return s
	}
	s = s[:longestAnswer]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "\n… (longer)"
}
