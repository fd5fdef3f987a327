package main

import (
	"flashlab/grader/command"
	"flashlab/grader/command/instructor"
)

// A release lacks this file and whatever only its commands need: solutions, mutants, a class.
func init() {
	commands = append(commonCommands(&instructor.Course), instructors()...)
}

// instructors are the commands that only the course's own repository has.
func instructors() command.List {
	all := command.List{
		instructor.Batch,
		instructor.Gradebook,
		instructor.Report,
		instructor.Merge,
		instructor.Unpack,
		instructor.Class,
		instructor.GradescopeZip,
		instructor.Gradescope,
		instructor.Release,
		instructor.Overlay,
		instructor.Ways,
		instructor.Page,
		instructor.HIP,
		instructor.Talk,
		instructor.NewTask,
		instructor.NewCheck,
		instructor.Blank,
		instructor.Handouts,
		instructor.Screens(func() command.List { return commands }, func() command.List { return commonCommands(nil) }),
	}
	for i, c := range all {
		if c.Group == "" {
			all[i].Group = command.Class
		}
	}
	return all
}
