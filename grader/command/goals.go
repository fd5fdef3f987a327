package command

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// own are the goals that Makefiles have recipes for, as their comments tell. Those take the variables that the comment
// explains: FRESH=1: what that does; FILE=prog.cu: what it is.
func own(makefiles []string) (all List, err error) {
	for _, name := range makefiles {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range recipe.FindAllStringSubmatch(string(text), -1) {
			summary := strings.TrimRight(explained.ReplaceAllString(m[2], ""), "; ")
			all = append(all, Command{Name: m[1], Summary: summary, Group: makes, Define: func(f *flag.FlagSet) Run {
				for _, v := range explained.FindAllStringSubmatch(m[2], -1) {
					if v[2] == "1" {
						f.Bool(lowered(v[1]), false, v[3])
						continue
					}
					f.String(lowered(v[1]), "", "`"+v[2]+"`: "+v[3])
				}
				return func([]string) (int, error) { return Failed, errors.New("make does that") }
			}})
		}
	}
	return all, nil
}

var (
	recipe    = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):.*?## (.*)$`)
	explained = regexp.MustCompile(`\b([A-Z]+)=([^\s:]+): ([^;]*)`)
)

// makes is the group of what make does without the grader.
const makes = "make"

// goals are all that make can do.
func (l List) goals(makefiles []string) (all List, err error) {
	if all, err = own(makefiles); err != nil {
		return nil, err
	}
	for _, c := range l {
		if c.Name == "help" {
			i := slices.IndexFunc(all, func(o Command) bool { return o.Name == "help" })
			if i >= 0 {
				all[i].Define = c.Define
			}
			continue
		}
		if !c.Hidden && c.Group != Itself && c.Group != Class && (c.Args == None || c.Args == Spare) && !slices.Contains(all.names(), c.Name) {
			all = append(all, c)
		}
	}
	return all, nil
}

// check refuses goals that nobody knows, and variables that none of the goals takes. The grader's own commands are l.
func (l List) check(commands List, asked []string, given []variable) error {
	line := "make " + strings.Join(asked, " ")
	var all []string
	for _, goal := range asked {
		c, err := l.find(goal)
		if err != nil {
			return fmt.Errorf("%s: %w", line, l.stranger(commands, goal, asked))
		}
		f, _ := c.flags()
		all = append(all, keys(f)...)
	}
	if i := slices.Index(asked, "help"); i >= 0 && len(asked) > 1 {
		other := slices.DeleteFunc(slices.Clone(asked), func(s string) bool { return s == "help" })[0]
		return fmt.Errorf("%s: make would also do %s; what it takes: make help CMD=%s", line, other, other)
	}
	for _, v := range given {
		if slices.Contains(all, v.key) {
			continue
		}
		if slices.Equal(asked, []string{"help"}) && slices.ContainsFunc(l, func(c Command) bool { return c.takes(v.key) }) {
			return fmt.Errorf("make: say what to do with %s=%s: make grade %s=%s, say; make help lists what there is", v.key, v.value, v.key, v.value)
		}
		return unknown(line, v.key, all)
	}
	return nil
}

func (c Command) takes(k string) bool {
	f, _ := c.flags()
	return lookup(f, k) != nil
}

// stranger says what a goal that there is not was probably meant to be.
func (l List) stranger(commands List, goal string, asked []string) error {
	name := taskIn(goal)
	for _, other := range asked {
		if c, err := l.find(other); err == nil && name != "" && c.takes("TASK") {
			return fmt.Errorf("no goal %q; do you mean make %s TASK=%s?", goal, other, name)
		}
	}
	if name != "" {
		return fmt.Errorf("no goal %q; do you mean make grade TASK=%s?", goal, name)
	}
	if c, err := commands.find(goal); err == nil && !c.Hidden {
		return fmt.Errorf("no goal %q; the grader has a command: out/bin/grader %s", goal, strings.TrimSpace(c.Name+" "+c.Usage))
	}
	if near := nearest(goal, l.names()); near != "" {
		return fmt.Errorf("no goal %q; do you mean %s?", goal, near)
	}
	return fmt.Errorf("no goal %q; make help lists what there is", goal)
}
