package instructor

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"

	"flashlab/grader/bench/kernels"
	"flashlab/grader/bench/measure"
	"flashlab/grader/bench/page"
	"flashlab/grader/command"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Page writes docs/reference.md and README's table again from what was measured, and draws the page's pictures: after a
// kernel has changed, its rows are stale. The parts that a machine with a GPU has timed become the page here.
var Page = command.Command{Name: "page", Group: command.Course, Summary: "write docs/reference.md, its pictures and README's table from the timings", Usage: "[PARTS=out/reference]",
	Define: func(f *flag.FlagSet) command.Run {
		parts := f.String("parts", "", "a `folder` of parts, out/reference on the machine where DOCS=1 timed them; docs/reference.json is made from them first")
		return func([]string) (int, error) {
			if err := writePage(*parts); err != nil {
				return command.Failed, err
			}
			return command.Full, nil
		}
	}}

func writePage(parts string) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return err
	}
	code, err := kernels.Read(root, tasks)
	if err != nil {
		return err
	}
	if parts != "" {
		if err := joinParts(parts, docsOf(root), tasks, code); err != nil {
			return fmt.Errorf("page: PARTS: %w", err)
		}
	}
	d, err := page.Load(docsOf(root))
	if err != nil {
		return err
	}
	changed, err := page.Redraw(docsOf(root), code)
	if err != nil {
		return err
	}
	readme, err := d.WriteReadme(root, code)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	if err := d.Draw(ctx, root, docsOf(root)); err != nil {
		return err
	}
	stale, all := d.Stale(code)
	harmless.Printf("docs/reference.md: %s; %d of %d rows are stale\nREADME.md: %s\n", wordFor(changed || parts != ""), stale, all, wordFor(readme))
	return nil
}

func wordFor(changed bool) string {
	if changed {
		return "written"
	}
	return "unchanged"
}

// joinParts makes one document of parts. What no part times is told, here and on the page: figures of an earlier run, perhaps
// of another card, would stand beside this one's as if they could be compared.
func joinParts(from, docs string, tasks []*rubric.Task, code kernels.Of) error {
	d, err := page.ReadParts(from)
	if err != nil {
		return err
	}
	all := measure.Options{Ways: func(context.Context) (string, error) { return "", nil }} // whatever a page can have
	if len(d.Parts) == 0 {
		return fmt.Errorf("%s has no parts: make bench DOCS=1 times them", from)
	}
	for _, t := range tasks {
		if all.Has(t) && !slices.ContainsFunc(d.Parts, func(p page.Part) bool { return p.Task == t.Name }) {
			d.Lacks = append(d.Lacks, t.Name)
		}
	}
	if len(d.Lacks) > 0 {
		harmless.Printf("%s lacks tasks %s: make bench DOCS=1 times them\n", from, measure.Names(d.Lacks))
	}
	return d.Write(docs, code)
}

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
