package student

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"flashlab/grader/command"
)

// Hint shows one of a handout's hints, or what there are: a README read as plain text shows all of them at once.
var Hint = command.Command{Name: "hint", Summary: "a hint of a handout; HINT=3: which", Usage: "TASK=2",
	Define: func(f *flag.FlagSet) command.Run {
		task := f.String("task", "", aboutTask)
		number := f.String("hint", "", "its `number`; without it, what hints there are")
		return func([]string) (int, error) {
			root, t, err := findOne("hint", *task, "make hint TASK=2, or TASK=2 HINT=3")
			if err != nil {
				return command.Failed, err
			}
			page := t.Dir + "/README.md"
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
			if err != nil {
				return command.Failed, fmt.Errorf("hint: hints are in the handout: %w", err)
			}
			said, err := pick(hintsOf(string(text)), *number)
			if err != nil {
				return command.Failed, fmt.Errorf("hint: %s %w", page, err)
			}
			fmt.Print(said)
			if *number == "" {
				fmt.Printf("\nmake hint TASK=%s HINT=1 shows the first; %s is the handout.\n", t.Name, page)
			}
			return command.Full, nil
		}
	}}

// hint is one that a handout folds away.
type hint struct{ number, title, text string }

var (
	details = regexp.MustCompile(`(?s)<details><summary>(.*?)</summary>\n(.*?)\n</details>`)
	ordered = regexp.MustCompile(`(?m)^(\d+)\. (.*)$`)
	// chapter is a heading with a number: a puzzle's, whose hint has no name of its own.
	chapter = regexp.MustCompile(`(?m)^## (\d+\. .*)$`)
	drawing = regexp.MustCompile(`!\[([^\]]*)\]\((?:\.\./)*([^)]*)\)`)
)

// hintsOf are a handout's hints. Those without a number are no part of the list: they belong to a text beside them.
func hintsOf(page string) (all []hint) {
	for _, at := range details.FindAllStringSubmatchIndex(page, -1) {
		name := page[at[2]:at[3]]
		if before := chapter.FindAllStringSubmatch(page[:at[0]], -1); name == "Hint" && len(before) > 0 {
			name = before[len(before)-1][1]
		}
		if m := ordered.FindStringSubmatch(name); m != nil {
			text := drawing.ReplaceAllString(strings.TrimSpace(page[at[4]:at[5]]), "(a drawing, $2: $1)")
			all = append(all, hint{m[1], m[2], text})
		}
	}
	return all
}

// pick is the hint of a number, or the list of them.
func pick(hints []hint, number string) (string, error) {
	var list strings.Builder
	for _, h := range hints {
		if h.number == number {
			return fmt.Sprintf("%s. %s\n\n%s\n", h.number, h.title, h.text), nil
		}
		fmt.Fprintf(&list, "%3s. %s\n", h.number, h.title)
	}
	switch {
	case len(hints) == 0:
		return "", fmt.Errorf("has no hints")
	case number != "":
		return "", fmt.Errorf("has no hint %q, only HINT=%s to %s", number, hints[0].number, hints[len(hints)-1].number)
	}
	return list.String(), nil
}
