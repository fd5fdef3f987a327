package command

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What a command takes is told once, by the flags that it defines. Each may be given in two ways: TASK=2, as to make,
// and -task 2.

// variable is a setting as it was typed.
type variable struct{ key, value string }

var assignment = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_-]*)=(.*)$`)

// assigned reads KEY=VALUE. Where a command takes folders, only capitals make a variable.
func assigned(word string, places bool) (v variable, ok bool) {
	m := assignment.FindStringSubmatch(word)
	if m == nil || places && m[1] != strings.ToUpper(m[1]) {
		return v, false
	}
	return variable{m[1], m[2]}, true
}

// key is the variable that says what a flag does: PROMPT_TOKENS is -prompt-tokens.
func key(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// sorted are a command's flags: what every day wants first, the others by their names.
func sorted(f *flag.FlagSet) (all []*flag.Flag) {
	f.VisitAll(func(one *flag.Flag) { all = append(all, one) })
	early := func(one *flag.Flag) int { return slices.Index([]string{"details", "case", "task"}, one.Name) }
	slices.SortStableFunc(all, func(a, b *flag.Flag) int { return early(b) - early(a) })
	return all
}

// keys are all variables of a command.
func keys(f *flag.FlagSet) (all []string) {
	for _, one := range sorted(f) {
		all = append(all, key(one.Name))
	}
	return all
}

// lookup finds a variable's flag.
func lookup(f *flag.FlagSet, k string) *flag.Flag {
	one := f.Lookup(lowered(k))
	if k != strings.ToUpper(k) {
		return nil
	}
	return one
}

// Empty is a flag's value that may be given as nothing: PROMPT= is a prompt, and SEED= is as if it were not there.
type Empty interface{ MayBeEmpty() bool }

// assign gives a command its variable.
func (c Command) assign(f *flag.FlagSet, v variable) error {
	one := lookup(f, v.key)
	if one == nil {
		return unknown(c.Name, v.key, keys(f))
	}
	if e, ok := one.Value.(Empty); v.value == "" && (!ok || !e.MayBeEmpty()) {
		return nil
	}
	value := v.value
	if isBool(one) {
		on, err := yes(value)
		if err != nil {
			return fmt.Errorf("%s: %s=%s: want 1, or leave it out", c.Name, v.key, value)
		}
		value = strconv.FormatBool(on)
	}
	return c.set(f, one, value, v.key+"="+v.value)
}

// set sets a flag. typed is how it was asked for.
func (c Command) set(f *flag.FlagSet, one *flag.Flag, value, typed string) error {
	err := f.Set(one.Name, value)
	if err == nil {
		return nil
	}
	if g, ok := one.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case int, uint64:
			err = errors.New("want a whole number")
		case float64:
			err = errors.New("want a number")
		case bool:
			err = errors.New("want true or false")
		}
	}
	return fmt.Errorf("%s: %s: %w", c.Name, typed, err)
}

// unknown refuses a variable or a flag that a command does not take, and names what it takes.
func unknown(command, typed string, takes []string) error {
	kind, near := "variable", nearest(key(strings.TrimLeft(typed, "-")), takes)
	if strings.HasPrefix(typed, "-") {
		kind = "flag"
		if near != "" {
			near = "-" + lowered(near)
		}
	}
	text := fmt.Sprintf("%s: no %s %s", command, kind, typed)
	if near != "" {
		return fmt.Errorf("%s; do you mean %s? It takes %s", text, near, strings.Join(takes, " "))
	}
	if len(takes) == 0 {
		return errors.New(text + "; it takes none")
	}
	return fmt.Errorf("%s; it takes %s", text, strings.Join(takes, " "))
}

func lowered(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "-")) }

// ofATask is how tasks and their folders are called.
var ofATask = regexp.MustCompile(`^(task_?)?(b?\d+)(_\w+)?/?$|^(bonus)/?$`)

// stray refuses a word that is no variable.
func (c Command) stray(f *flag.FlagSet, word string) error {
	hint := "variables look like TASK=2"
	if name := taskIn(word); name != "" && lookup(f, "TASK") != nil {
		hint = "do you mean TASK=" + name + "?"
	} else if c.Args == None && len(keys(f)) == 0 {
		hint = "it takes nothing"
	}
	return fmt.Errorf("%s: unexpected argument %q; %s", c.Name, word, hint)
}

// taskIn is the task that a word names; "" if it names none.
func taskIn(word string) string {
	if m := ofATask.FindStringSubmatch(word); m != nil {
		return m[2] + m[4]
	}
	return ""
}

func isBool(one *flag.Flag) bool {
	b, ok := one.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// yes reads a variable that is on or off.
func yes(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "y", "yes", "on":
		return true, nil
	case "n", "no", "off":
		return false, nil
	}
	return strconv.ParseBool(value)
}
