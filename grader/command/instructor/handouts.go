package instructor

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/handouts"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Handouts runs the commands that handouts quote, and writes what they print into the pages.
var Handouts = command.Command{Name: "handouts", Group: command.Course, Summary: "run the commands that handouts quote, in a release, and write into the pages what they print", Usage: "[TASK=2]",
	Define: func(f *flag.FlagSet) command.Run {
		task := f.String("task", "", "the `task` whose handout it is; all of them without it")
		return func([]string) (int, error) {
			ctx, stop := command.Interruptible()
			defer stop()
			if err := renewHandouts(ctx, *task); err != nil {
				return command.Failed, fmt.Errorf("handouts: %w", err)
			}
			return command.Full, nil
		}
	}}

func renewHandouts(ctx context.Context, name string) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return err
	}
	if name != "" {
		if tasks, err = rubric.Find(tasks, name); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "flashlab-handouts-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree, err := handouts.Make(ctx, root, dir)
	if err != nil {
		return err
	}
	for i, t := range tasks {
		page := filepath.Join(t.Dir, "README.md")
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return err
		}
		now, err := tree.Renewed(ctx, t, string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		harmless.Printf("%d of %d  %s: %s\n", i+1, len(tasks), page, wordFor(now != string(text)))
		if now != string(text) {
			if err := cache.WriteFile(filepath.Join(root, page), []byte(now), 0o644); err != nil {
				return err
			}
		}
		for _, p := range handouts.Pictures {
			if p.Task != t.Name {
				continue
			}
			drawn, err := tree.Draw(ctx, t, p)
			if err != nil {
				return err
			}
			harmless.Println("       ", p.File)
			if err := cache.WriteFile(filepath.Join(root, p.File), []byte(drawn), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
