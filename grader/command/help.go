package command

import (
	"flag"
	"fmt"
	"strings"
)

// withHelp adds the commands that are about the list itself.
func (l List) withHelp() List {
	var all List
	all = append(l[:len(l):len(l)],
		Command{Name: "completion", Summary: `print bash's completion of commands and flags, for eval "$(out/bin/grader completion)"`,
			Define: Do(func() error {
				_, err := fmt.Print(all.completion())
				return err
			})},
		Command{Name: "help", Summary: "this list, or a command's flags", Usage: "[COMMAND]", Args: Rest,
			Define: func(*flag.FlagSet) Run { return func(args []string) (int, error) { return all.helpOn(args) } }})
	return all
}

// helpOn prints the list, or what there is to know about one command.
func (l List) helpOn(args []string) (int, error) {
	if len(args) == 0 {
		fmt.Print(l.help())
		return Full, nil
	}
	c, err := l.find(args[0])
	if err != nil {
		return Failed, err
	}
	f, _ := c.flags()
	var text strings.Builder
	f.SetOutput(&text)
	f.Usage()
	fmt.Print(text.String())
	return Full, nil
}

// help is the list, in words.
func (l List) help() string {
	var s strings.Builder
	s.WriteString("usage: go run ./grader <command> [flags]\n")
	width, group := 0, ""
	for _, c := range l {
		width = max(width, len(c.Name))
	}
	heading := "commands"
	for _, c := range l {
		if c.Hidden {
			continue
		}
		if c.Group != group {
			heading, group = c.Group, c.Group
		}
		if heading != "" {
			fmt.Fprintf(&s, "\n%s:\n", heading)
			heading = ""
		}
		fmt.Fprintf(&s, "  %-*s  %s", width, c.Name, c.Summary)
		if c.Usage != "" {
			s.WriteString(":  " + c.line())
		}
		s.WriteString("\n")
	}
	s.WriteString("\n'go run ./grader <command> -help' lists a command's flags.\n")
	return s.String()
}

// explain prints one command's summary, usage and flags.
func (c Command) explain(f *flag.FlagSet) {
	fmt.Fprintf(f.Output(), "%s: %s\nusage: grader %s\n", c.Name, c.Summary, c.line())
	f.PrintDefaults()
}

// nearest is the name that a mistyped one was probably meant to be; "" if none is like it.
func (l List) nearest(name string) (near string) {
	least := 1 + max(2, len(name)/3) // more letters than that are not a slip
	for _, c := range l {
		if d := distance(name, c.Name); d < least && !c.Hidden {
			near, least = c.Name, d
		}
	}
	return near
}

// distance is how many letters must be added, removed or changed to get from one word to
// another.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from the first letters of a to those of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
