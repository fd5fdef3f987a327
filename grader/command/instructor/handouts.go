package instructor

import (
	"context"
	"errors"
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
	var wrong error // the other pages are written all the same
	for i, t := range tasks {
		changed, err := renewHandout(ctx, tree, root, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		said := wordFor(changed)
		if err != nil {
			said = "not written: see below"
		}
		harmless.Printf("%d of %d  %s/README.md: %s\n", i+1, len(tasks), t.Dir, said)
		wrong = errors.Join(wrong, err)
	}
	return wrong
}

// renewHandout writes one task's page, and the pictures of what its commands print.
func renewHandout(ctx context.Context, tree *handouts.Tree, root string, t *rubric.Task) (changed bool, err error) {
	page := filepath.Join(t.Dir, "README.md")
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return false, err
	}
	now, err := tree.Renewed(ctx, t, string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", page, err)
	}
	if changed = now != string(text); changed {
		if err := cache.WriteFile(filepath.Join(root, page), []byte(now), 0o644); err != nil {
			return false, err
		}
	}
	for _, p := range handouts.Pictures {
		if p.Task != t.Name {
			continue
		}
		drawn, err := tree.Draw(ctx, t, p)
		if err != nil {
			return changed, err
		}
		if err := cache.WriteFile(filepath.Join(root, p.File), []byte(drawn), 0o644); err != nil {
			return changed, err
		}
	}
	return changed, nil
}
