package instructor

import (
	"path/filepath"

	"flashlab/grader/bench/kernels"
	"flashlab/grader/bench/page"
	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Page writes docs/reference.md again from what was measured, and draws its pictures: after a kernel has changed, its rows
// are stale.
var Page = command.Command{Name: "page", Group: command.Course, Summary: "write docs/reference.md again from its JSON, and draw its pictures",
	Define: command.Do(func() error {
		root, err := repo.Root()
		if err != nil {
			return err
		}
		d, code, err := readPage(root)
		if err != nil {
			return err
		}
		changed, err := page.Redraw(docsOf(root), code)
		if err != nil {
			return err
		}
		ctx, stop := command.Interruptible()
		defer stop()
		if err := d.Draw(ctx, root, docsOf(root)); err != nil {
			return err
		}
		stale, all := d.Stale(code)
		word := "as it was"
		if changed {
			word = "written"
		}
		harmless.Printf("docs/reference.md: %s; %d of %d rows are stale\n", word, stale, all)
		return nil
	})}

func docsOf(root string) string { return filepath.Join(root, "docs") }

// readPage reads what was measured, and which code is here.
func readPage(root string) (d page.Document, code kernels.Of, err error) {
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return d, code, err
	}
	if code, err = kernels.Read(root, tasks); err != nil {
		return d, code, err
	}
	d, err = page.Load(docsOf(root))
	return d, code, err
}
