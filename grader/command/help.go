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
		Command{Name: "completion", Summary: `print bash's completion, for eval "$(out/bin/grader completion)"`, Group: Itself,
			Define: Do(func() error {
				_, err := fmt.Print(all.completion())
				return err
			})},
		Command{Name: "help", Summary: "this list, or what one command takes", Usage: "[COMMAND]", Args: Spare, Group: Itself,
			Define: func(f *flag.FlagSet) Run {
				name := f.String("cmd", "", "the `command` to explain, or all")
				return func(args []string) (int, error) { return all.helpOn(append(args, *name)[0]) }
			}},
		Command{Name: "make", Summary: "do what make was asked for", Usage: "MAKEFILE check|GOAL", Args: Places, Hidden: true,
			Define: func(*flag.FlagSet) Run { return all.fromMake }})
	return all
}

// helpOn prints the list, or what there is to know about one command.
func (l List) helpOn(name string) (int, error) {
	switch name {
	case "":
		fmt.Print(l.help())
		return Full, nil
	case "all":
		for _, c := range l {
			if !c.Hidden {
				fmt.Println(c.explain("grader"))
			}
		}
		return Full, nil
	}
	c, err := l.find(name)
	if err != nil {
		return Failed, err
	}
	fmt.Print(c.explain("grader"))
	return Full, nil
}

// help is the list, in words.
func (l List) help() string {
	var s strings.Builder
	s.WriteString("usage: out/bin/grader COMMAND [VARIABLE=value …]\n")
	width, group, heading := 0, "", "commands"
	for _, c := range l {
		width = max(width, len(c.Name))
	}
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
		fmt.Fprintf(&s, "  %-*s  %s\n", width, c.Name, c.Summary)
	}
	s.WriteString("\n'out/bin/grader help grade' explains a command and its variables, 'help all' every one.\n")
	return s.String()
}

// explain is one command's summary, usage and variables, as one types them after grader or make.
func (c Command) explain(program string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s\n\n", strings.TrimSpace(program+" "+c.Name+" "+c.Usage), c.Summary)
	f, _ := c.flags()
	all := sorted(f)
	if len(all) == 0 {
		s.WriteString("It takes no variables.\n")
		return s.String()
	}
	for _, one := range all {
		example, about := flag.UnquoteUsage(one)
		if isBool(one) {
			example = "1"
		}
		if d := one.DefValue; d != "" && d != "0" && d != "false" && !strings.Contains(about, d) {
			about += " (" + d + " without it)"
		}
		fmt.Fprintln(&s, hang("  "+key(one.Name)+"="+example, 22, about))
	}
	if program == "grader" {
		fmt.Fprintf(&s, "\n-%s says the same as %s=, and so on.\n", all[0].Name, key(all[0].Name))
	}
	return s.String()
}

// wide is how many columns help may have.
const wide = 80

// hang sets a text beside its head, from a column on, over as many lines as it takes.
func hang(head string, column int, text string) string {
	var lines []string
	line := fmt.Sprintf("%-*s", column, head)
	if letters(head) >= column {
		lines, line = append(lines, line), strings.Repeat(" ", column)
	}
	begun := false
	for word := range strings.FieldsSeq(text) {
		if begun && letters(line)+1+letters(word) > wide {
			lines, line, begun = append(lines, line), strings.Repeat(" ", column), false
		}
		if begun {
			line += " "
		}
		line, begun = line+word, true
	}
	return strings.Join(append(lines, strings.TrimRight(line, " ")), "\n")
}

func letters(s string) int { return len([]rune(s)) }

func (l List) names() (all []string) {
	for _, c := range l {
		if !c.Hidden {
			all = append(all, c.Name)
		}
	}
	return all
}

// Groups of commands: of the grader itself and of a class, which make does not tell of, and of the course.
const (
	Itself = "of the grader itself"
	Class  = "for a class"
	Course = "for the course"
)
