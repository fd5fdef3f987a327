// Package command is what the grader's commands have in common. Each is a value in a list. The help,
// the message about a mistyped name and the shell's completion are made from that list.
package command

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"flashlab/internal/harmless"
)

// Exit codes. A report says everything that they say, and better.
const (
	Full   = 0 // all points of what was measured
	Less   = 1
	Failed = 2 // the grader itself could not do its work
)

// Command is one of the things that the grader does.
type Command struct {
	Name    string
	Summary string // one line
	Usage   string // what may follow the name: "TASK=2 [SUBMISSION=folder]"
	Args    Args
	Group   string // its heading in the help; "" is what everybody has
	Hidden  bool   // left out of the help: a machine starts it
	// Define adds the flags, which are its variables, too, and returns what to do once they are read.
	Define func(f *flag.FlagSet) Run
}

// Run does the work, with the arguments that are neither variables nor flags. It returns the exit code.
type Run func(args []string) (code int, err error)

// Do is what defines a command without flags.
func Do(do func() error) func(*flag.FlagSet) Run {
	return func(*flag.FlagSet) Run { return func([]string) (int, error) { return Full, do() } }
}

// Args says which arguments a command takes besides its flags.
type Args int

const (
	None   Args = iota
	Places      // before, between and behind the flags
	Rest        // all that follows the first, flags and all: somebody else reads it
	Spare       // Places that may be left out
)

// List is what there is to do, in the order of the help.
type List []Command

// Execute runs the command that the arguments name, and returns the exit code.
func (l List) Execute(args []string) int {
	l = l.withHelp()
	if len(args) == 0 {
		harmless.Fprint(os.Stderr, l.help())
		return Failed
	}
	if slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		args = append([]string{"help"}, args[1:]...)
	}
	c, err := l.find(args[0])
	if err != nil {
		harmless.Fprintf(os.Stderr, "grader: %v\n\n%s", err, l.help())
		return Failed
	}
	code, err := c.execute(args[1:])
	if err != nil {
		harmless.Errorln("grader:", err)
		return Failed
	}
	return code
}

// find picks a command by its name.
func (l List) find(name string) (Command, error) {
	i := slices.IndexFunc(l, func(c Command) bool { return c.Name == name })
	if i >= 0 {
		return l[i], nil
	}
	if near := nearest(name, l.names()); near != "" {
		return Command{}, fmt.Errorf("there is no command %q; do you mean %s?", name, near)
	}
	return Command{}, fmt.Errorf("there is no command %q", name)
}

func (c Command) execute(args []string) (int, error) {
	f, run := c.flags()
	args, err := c.parse(f, args)
	if errors.Is(err, flag.ErrHelp) {
		harmless.Print(c.explain("grader"))
		return Full, nil
	}
	if err != nil {
		return Failed, err
	}
	return run(args)
}

// flags are the command's, not yet read.
func (c Command) flags() (*flag.FlagSet, Run) {
	f := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	return f, c.Define(f)
}
