// Command grader grades submissions of the course, and helps to run its tests.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"flashlab/grader/grading/sandbox"
)

// Exit codes. They say nothing that a report does not say better.
const (
	exitFull   = 0 // all points of what was measured
	exitLess   = 1
	exitFailed = 2 // the grader itself could not do its work
)

const usage = `usage: go run ./grader <command> [flags]

commands:
  grade     grade a task:            grade -task 2 [-solution | -mutant NAME | -submission DIR]
  batch     grade a class:           batch SUBMISSIONS -o OUT [-j 4] [-course course.toml]
  gradebook make the grades anew of what a batch measured:  gradebook OUT
  merge     join batches, of a GPU and of the simulator, say:  merge OUT1 OUT2 -o OUT
  class     make a class of invented submissions, to try a batch on:  class FOLDER [-n 60]
  report    draw the pages anew:     report OUT
  gradescope-zip  write what Gradescope grades with:  gradescope-zip -course course.toml -o autograder.zip
  unpack    write out one attempt's files:  unpack OUT -student ID -attempt 1 -o FOLDER
  tune      try tile sizes for task 4:  tune [-solution] [-dim 128]
  bench     time the reference solutions beside cuBLAS and PyTorch:  bench [-task 4] [-quick]
  run       start a task's worker by itself:  run -task 7 [-solution] gpt2 [flags]
  pack      write the zip to hand in, and its receipt
  test      run the public checks of the tasks that are begun
  demo      show how the simulator reports a bug
  profile   what ncu counts of a task's kernels:  profile -task 4
  sanitize  a task's kernels under compute-sanitizer:  sanitize -task 4
  gpu       grade as a short Slurm job, from a login node:  gpu -task 4
  release   write the students' tree:  release [-version 2027.1] FOLDER
  update    take a newer release, in a students' tree:  update -from FOLDER|ZIP
  doctor    check that this machine can grade: compiles and runs a probe kernel
  overlay   write the overlay for    go test -overlay=FILE ./...   against the solutions
  env       print the environment for  go test -tags cuda
  version   print the version

'go run ./grader <command> -help' lists a command's flags.
`

// command runs one command and returns the exit code.
type command func(args []string) (int, error)

var commands = map[string]command{
	"grade":          gradeCommand,
	"batch":          batchCommand,
	"gradebook":      gradebookCommand,
	"merge":          mergeCommand,
	"class":          classCommand,
	"report":         reportCommand,
	"unpack":         unpackCommand,
	"gradescope":     gradescopeCommand, // in Gradescope's container
	"gradescope-zip": gradescopeZipCommand,
	"tune":           tuneCommand,
	"run":            runCommand,
	"pack":           packCommand,
	"test":           testCommand,
	"demo":           demoCommand,
	"profile":        profileCommand,
	"sanitize":       sanitizeCommand,
	"gpu":            gpuCommand,
	"release":        releaseCommand,
	"update":         updateCommand,
	"doctor":         doctorCommand,
	"overlay":        overlayCommand,
	"env":            envCommand,
	"version":        versionCommand,
	"help":           helpCommand,
	"bench":          benchCommand,
}

func main() {
	sandbox.Trampoline()
	os.Exit(execute(os.Args[1:]))
}

func execute(args []string) (code int) {
	// A bug of ours must not look like a student's.
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "grader: internal error: %v\n%s", p, debug.Stack())
			code = exitFailed
		}
	}()
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return exitFailed
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		args[0] = "help"
	}
	c, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(os.Stderr, "grader: there is no command %q\n\n%s", args[0], usage)
		return exitFailed
	}
	code, err := c(args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitFull
	case err != nil:
		fmt.Fprintln(os.Stderr, "grader:", err)
		return exitFailed
	}
	return code
}

func helpCommand([]string) (int, error) {
	fmt.Print(usage)
	return exitFull, nil
}

func versionCommand([]string) (int, error) {
	version := "unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				version = s.Value + ", " + version
			}
		}
	}
	fmt.Println("flashlab grader,", version)
	return exitFull, nil
}

// parse reads a command's flags; there are no other arguments.
func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			err = errors.New("see the flags above")
		}
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s: what is %q? Flags look like -task 2", f.Name(), f.Arg(0))
	}
	return nil
}
