package instructor

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/tasks/skeleton"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// NewTask writes the skeleton of a task.
var NewTask = command.Command{Name: "new-task", Group: command.Course, Summary: "write the beginnings of a task, which compile and get no points", Usage: "b10_sums [TITLE='Running sums']", Args: command.Places,
	Define: func(f *flag.FlagSet) command.Run {
		title := f.String("title", "", "what the handout and the reports call it; the name's word without it")
		return func(places []string) (int, error) {
			if len(places) != 1 {
				return command.Failed, errors.New("new-task: want a name: new-task b11_sums")
			}
			return begin("new-task", func(root string) ([]string, error) { return skeleton.New(root, places[0], *title) })
		}
	}}

// NewCheck adds a check to a task.
var NewCheck = command.Command{Name: "new-check", Group: command.Course, Summary: "add a check to a task: in its rubric, room, worker, stub and solution", Usage: "2 masked", Args: command.Places,
	Define: func(*flag.FlagSet) command.Run {
		return func(places []string) (int, error) {
			if len(places) != 2 {
				return command.Failed, errors.New("new-check: want a task and the check's id: new-check 2 masked")
			}
			return begin("new-check", func(root string) ([]string, error) { return skeleton.NewCheck(root, places[0], places[1]) })
		}
	}}

// begin writes the files, and names them.
func begin(name string, write func(root string) ([]string, error)) (int, error) {
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	files, err := write(root)
	if err != nil {
		return command.Failed, fmt.Errorf("%s: %w", name, err)
	}
	harmless.Println("Written:", strings.Join(files, ", "))
	return command.Full, nil
}
