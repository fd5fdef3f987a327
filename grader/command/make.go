package command

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"flashlab/internal/harmless"
)

// make starts the grader for nearly every goal: `grader make Makefile check` before anything runs, then `grader make
// Makefile grade`. The variables of make's command line arrive in MAKEFLAGS, as they were typed, whatever they hold.

// goals are what make was asked for, in the environment.
const goals = "FLASHLAB_GOALS"

// overrides reads the variables out of MAKEFLAGS: after a word --, blanks separate them, a backslash takes the next
// letter as it is, and a dollar is there twice.
func overrides(makeflags string) (all []variable) {
	var word strings.Builder
	begun, escaped, dollar := false, false, false
	end := func() {
		text := word.String()
		word.Reset()
		if !begun {
			begun = text == "--"
		} else if k, value, ok := strings.Cut(text, "="); ok {
			all = append(all, variable{strings.TrimRight(k, ":"), value})
		}
	}
	for _, r := range makeflags {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '$' && !dollar:
			dollar = true
			continue
		case r == ' ' || r == '\t':
			end()
		default:
			word.WriteRune(r)
		}
		dollar = false
	}
	end()
	return all
}

// setting is what Go, the compilers and our own programs read from the environment: it goes with every command.
var setting = regexp.MustCompile(`^(CC|CXX|CGO_.*|CLANG_FORMAT|CUDA_HOME|FLASHLAB_.*|GO.*|MAKE.*|NO_COLOR|NVCC_.*|PATH|SHELL|TMPDIR|V|.*_proxy|.*_PROXY)$`)

// fromMake checks what make was asked for, or does one goal of it.
func (l List) fromMake(args []string) (int, error) {
	if len(args) < 2 {
		return Failed, errors.New("make: want Makefiles and a goal")
	}
	goal := args[len(args)-1]
	all, err := l.goals(args[:len(args)-1])
	if err != nil {
		return Failed, err
	}
	given := slices.DeleteFunc(overrides(os.Getenv("MAKEFLAGS")), func(v variable) bool { return setting.MatchString(v.key) })
	if goal == "check" {
		if err := all.check(l, strings.Fields(os.Getenv(goals)), given); err != nil {
			harmless.Errorln(err)
			return Failed, nil
		}
		return Full, nil
	}
	c, err := all.find(goal)
	if err != nil {
		return Failed, err
	}
	f, run := c.flags()
	for _, v := range given { // another goal may take what this one does not
		if lookup(f, v.key) == nil {
			continue
		}
		if err := c.assign(f, v); err != nil {
			return Failed, err
		}
	}
	if c.Name == "help" {
		text, err := all.screen(f.Lookup("cmd").Value.String())
		fmt.Print(text)
		return Full, err
	}
	code, err := run(nil)
	if c.Name == "grade" && code == Less { // points were lost, which is no error of make's
		code = Full
	}
	return code, err
}
