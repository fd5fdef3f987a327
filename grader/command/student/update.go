package student

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/edition"
	"flashlab/internal/repo"
)

// Update takes a newer release over the students' tree; the course's own has git for that.
func Update(course *Course) command.Command {
	return command.Command{Name: "update", Hidden: course != nil, Summary: "take a newer release; your files stay as they are", Usage: "FROM=new.zip",
		Define: func(f *flag.FlagSet) command.Run {
			from := f.String("from", "", "`folder` or zip of the newer release")
			force := f.Bool("force", false, "take an older one, too")
			return func([]string) (int, error) { return update(*from, *force) }
		}}
}

func update(from string, force bool) (int, error) {
	if from == "" {
		return command.Failed, errors.New("update: say from what: make update FROM=flashlab-….zip, the newer release that you were given")
	}
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	newer, closing, err := edition.Open(from)
	if err != nil {
		return command.Failed, fmt.Errorf("update: %w", err)
	}
	defer closing()
	u, err := edition.Update(root, newer, force)
	if u.Recovered {
		fmt.Println("An earlier update had been interrupted; it was undone.")
	}
	if err != nil {
		return command.Failed, fmt.Errorf("update: %w", err)
	}
	fmt.Printf("Release %s, where %s was: %d files written, %d removed, none of yours touched\n", u.To, u.From, len(u.Written), len(u.Removed))
	if len(u.Changed) > 0 {
		fmt.Printf("You had changed files of the course; yours are kept in %s: %s\n", edition.BeforeDir, strings.Join(u.Changed, ", "))
	}
	if len(u.Stubs) > 0 {
		fmt.Printf("The stubs of these differ now. Yours were left as they are; compare them with those in %s: %s\n", edition.StubsDir, strings.Join(u.Stubs, ", "))
	}
	return command.Full, nil
}
