package instructor

import (
	"flag"
	"fmt"
	"strings"

	"flashlab/grader/class/folder"
	"flashlab/grader/class/gradescope"
	"flashlab/grader/command"
	"flashlab/grader/release"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
)

// GradescopeZip writes what an instructor uploads to Gradescope.
var GradescopeZip = command.Command{Name: "gradescope-zip", Summary: "write what Gradescope grades with", Usage: "COURSE=course.toml O=autograder.zip",
	Define: func(f *flag.FlagSet) command.Run {
		course := f.String("course", "", "`course.toml`; tables next to it are included")
		out := f.String("o", "out/autograder.zip", "`file` to write")
		tasks := f.String("tasks", "", "grade only these, `1,2`; those of course.toml without it")
		trust := f.Bool("trust", false, "grade without a sandbox, where Gradescope's container has none")
		return func([]string) (int, error) { return gradescopeZip(*course, *out, *tasks, *trust) }
	}}

func gradescopeZip(course, out, tasks string, trust bool) (int, error) {
	c, err := open(&folder.Folder{Course: course}) // a mistake in it shows here, not at the deadline
	if err != nil {
		return command.Failed, err
	}
	if _, err := named(tasks, c.all); err != nil {
		return command.Failed, err
	}
	for _, o := range c.class.Tables.Overrides {
		if o.Receipt == "" { // nothing in a container remembers for which attempt it was given
			return command.Failed, fmt.Errorf("gradescope-zip: %s has no receipt, so it would apply to every later attempt: write the attempt's receipt into a column receipt", o.Where())
		}
	}
	ctx, stop := command.Interruptible()
	defer stop()
	tree, err := release.Grading(ctx, c.root)
	if err != nil {
		return command.Failed, fmt.Errorf("gradescope-zip: %w", err)
	}
	var flags []string
	if tasks != "" {
		flags = append(flags, "-tasks", strings.ReplaceAll(tasks, " ", ","))
	}
	if trust {
		flags = append(flags, "-trust")
	}
	data, err := gradescope.Zip(gradescope.Input{Tree: tree, Course: course, Flags: strings.Join(flags, " ")})
	if err != nil {
		return command.Failed, err
	}
	if err := cache.WriteFile(out, data, 0o600); err != nil {
		return command.Failed, err
	}
	harmless.Printf("Written: %s (%.1f MB), of %s. It holds the hidden cases and the class seed: give it to Gradescope alone.\n", out, float64(len(data))/1e6, tree.Name)
	if tree.Dirty {
		harmless.Println("warning: the working tree has changes that are not committed; they are not in it")
	}
	return command.Full, nil
}
