package command

import (
	"flag"
	"fmt"
	"strings"
)

// parse reads variables and flags, in any order, and returns the other words.
func (c Command) parse(f *flag.FlagSet, args []string) (others []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch v, ok := assigned(word, c.Args != None); {
		case ok:
			err = c.assign(f, v)
		case word == "--":
			return append(others, args...), nil
		case len(word) > 1 && word[0] == '-':
			args, err = c.flag(f, word, args)
		case c.Args == Rest:
			return append([]string{word}, args...), nil
		case c.Args == None:
			err = c.stray(f, word)
		default:
			others = append(others, word)
		}
		if err != nil {
			return nil, err
		}
	}
	return others, nil
}

// flag reads -name value, -name=value or -name, and returns the words after it.
func (c Command) flag(f *flag.FlagSet, word string, args []string) ([]string, error) {
	name, value, given := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	if name == "h" || name == "help" {
		return nil, flag.ErrHelp
	}
	one := f.Lookup(name)
	switch {
	case one == nil:
		return nil, unknown(c.Name, "-"+name, keys(f))
	case given:
	case isBool(one):
		value = "true"
	case len(args) == 0:
		return nil, fmt.Errorf("%s: -%s needs a value", c.Name, name)
	default:
		value, args = args[0], args[1:]
	}
	return args, c.set(f, one, value, "-"+name+" "+value)
}
