// Command grader grades submissions of the course, and helps to run its tests. What it can do stands
// in student.go and instructor.go.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"flashlab/grader/command"
	"flashlab/grader/grading/sandbox"
)

func main() {
	sandbox.Trampoline()
	os.Exit(execute(os.Args[1:]))
}

// execute runs a command and returns the exit code. A bug of ours must not look like a student's.
func execute(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "grader: internal error: %v\n%s", p, debug.Stack())
			code = command.Failed
		}
	}()
	return commands.Execute(args)
}
