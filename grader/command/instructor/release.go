package instructor

import (
	"errors"
	"flag"
	"fmt"

	"flashlab/grader/class/folder"
	"flashlab/grader/command"
	"flashlab/grader/release"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Release writes the students' tree of the last commit.
var Release = command.Command{Name: "release", Group: command.Course, Summary: "write the students' tree, without solutions", Usage: "[VERSION=2027.1] [COURSE=course.toml] [FOLDER]", Args: command.Spare,
	Define: func(f *flag.FlagSet) command.Run {
		version := f.String("version", "", "what to call it, `2027.1`; the commit's date without it")
		course := f.String("course", "", "`course.toml` of the class: its variant is what students get; the plain course without it")
		stale := f.Bool("stale", false, "write it even if docs/reference.md has stale rows, which the page marks")
		return func(places []string) (int, error) {
			if len(places) > 1 {
				return command.Failed, errors.New("release: want one folder, or none for out/release")
			}
			return writeRelease(append(places, "out/release")[0], *version, *course, *stale)
		}
	}}

func writeRelease(dir, version, course string, stale bool) (int, error) {
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	year, err := folder.Year(root, course)
	if err != nil {
		return command.Failed, fmt.Errorf("release: %w", err)
	}
	if err := fresh(root); err != nil && !stale {
		return command.Failed, fmt.Errorf("release: docs/reference.md: %w; STALE=1 releases anyway", err)
	}
	ctx, stop := command.Interruptible()
	defer stop()
	t, err := release.Make(ctx, root, version, release.Year{Variant: year.Variant, Agents: year.Agents})
	if err != nil {
		return command.Failed, fmt.Errorf("release: %w", err)
	}
	written, zipped, err := t.Write(dir)
	if err != nil {
		return command.Failed, fmt.Errorf("release: %w", err)
	}
	harmless.Printf("Release %s: %d files, %d of them for students to change\n", t.Name, len(t.Contents), len(t.Yours))
	harmless.Println("Searched for solutions, hidden cases and trial submissions: none is in it. What comes close, students need to grade themselves; a copy of it is held for a person")
	if year.Variant != "" {
		harmless.Printf("It is this year's course, with the variant %q: last year's solutions do not pass\n", year.Variant)
	}
	harmless.Printf("Written: %s and %s\n", written, zipped)
	if t.Dirty {
		harmless.Println("warning: the working tree has changes that are not committed; they are not in the release")
	}
	return command.Full, nil
}

// fresh says why the reference's page may not go to students.
func fresh(root string) error {
	d, code, err := readPage(root)
	if err != nil {
		return err
	}
	return d.Fresh(code)
}
