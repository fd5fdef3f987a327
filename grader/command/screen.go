package command

import (
	"fmt"
	"slices"
	"strings"
)

// daily is what a student types most.
var daily = []string{"demo", "test", "grade", "watch", "show", "pack"}

// Screen is `make help` with these commands and Makefiles: all that fits a screen.
func (l List) Screen(makefiles ...string) (string, error) {
	all, err := l.withHelp().goals(makefiles)
	if err != nil {
		return "", err
	}
	return all.screen("")
}

// screen is the same; or it explains one goal; or all.
func (l List) screen(name string) (string, error) {
	if name == "all" {
		var s strings.Builder
		for _, c := range l {
			fmt.Fprintln(&s, c.explain("make"))
		}
		return s.String(), nil
	}
	if name != "" {
		c, err := l.find(name)
		if err != nil {
			return "", err
		}
		return c.explain("make"), nil
	}
	var s strings.Builder
	s.WriteString("flashlab: attention kernels, from a softmax to a talking GPT-2\n\nEvery day:\n")
	for _, d := range daily {
		if c, err := l.find(d); err == nil {
			s.WriteString(c.row())
		}
	}
	var rest []string
	s.WriteString("\nNow and then:\n")
	for _, c := range l {
		switch {
		case slices.Contains(daily, c.Name):
		case c.Group == "":
			s.WriteString(c.row())
		case c.Name != "help":
			rest = append(rest, c.Name)
		}
	}
	s.WriteString("\n" + hang("The rest:", 10, strings.Join(rest, " ")) + "\n\n")
	s.WriteString("make help CMD=grade explains a command and its variables, CMD=all every one.\n")
	return s.String(), nil
}

// row is a goal's line on the screen.
func (c Command) row() string {
	head := strings.TrimSpace("  make " + c.Name + " " + c.Usage)
	return hang("  "+head, 26, c.Summary) + "\n"
}
