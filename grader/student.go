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
		student.Demo,
		student.Test,
		student.Grade(course),
		student.Watch,
		student.Show(course),
		student.Hint,
		student.Pack,
		student.Regrade,
		student.Update(course),
		student.Build(course),
		student.Bench(course),
		student.Profile(course),
		student.Sanitize(course),
		student.GPU(course),
		student.Plot(course),
		student.Tune(course),
		student.E2E(course),
		student.GPT2(course),
		student.Chat(course),
		student.Price,
		student.Run(course),
		student.Doctor,
		student.Env,
		student.Version,
	}
}
