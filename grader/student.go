package main

import (
	"flashlab/grader/command"
	"flashlab/grader/command/student"
)

// commands are all that this grader has: in a students' tree, those of this file.
var commands = commonCommands(nil)

// commonCommands are the commands that students have, too. With a course they can run its solutions
// and mutants as well as a student's files.
func commonCommands(course *student.Course) command.List {
	return command.List{
		student.Grade(course),
		student.Build(course),
		student.Watch,
		student.Test,
		student.Pack,
		student.Tune(course),
		student.Bench(course),
		student.Run(course),
		student.Show(course),
		student.Profile(course),
		student.Sanitize(course),
		student.GPU(course),
		student.Demo,
		student.Update,
		student.Doctor,
		student.Env,
		student.Version,
	}
}
