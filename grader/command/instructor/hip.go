package instructor

import (
	"flag"
	"fmt"
	"path/filepath"

	"flashlab/grader/bench/amd"
	"flashlab/grader/command"
	"flashlab/internal/harmless"
)

// HIP compiles the kernels for AMD's GPUs.
var HIP = command.Command{Name: "hip-check", Group: command.Course, Summary: "compile the kernels for AMD GPUs with hipcc (no GPU needed), as docs/amd.md tells", Usage: "[PAGE=1]",
	Define: func(f *flag.FlagSet) command.Run {
		page := f.Bool("page", false, "write the table of docs/amd.md")
		return func([]string) (int, error) {
			code, err := hipCheck(*page)
			if err != nil {
				return command.Failed, fmt.Errorf("hip-check: %w", err)
			}
			return code, nil
		}
	}}

func hipCheck(page bool) (int, error) {
	root, tasks, err := allTasks()
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	all, err := amd.Run(ctx, root, tasks, func(r amd.Result) { harmless.Println(r.Line()) })
	if err != nil {
		return command.Failed, err
	}
	harmless.Println(amd.Summary(all))
	if page {
		file := filepath.Join(root, "docs", "amd.md")
		if err := amd.Write(file, amd.Table(all, amd.Versions(ctx))); err != nil {
			return command.Failed, err
		}
		harmless.Println("docs/amd.md: written")
	}
	if amd.Failed(all) {
		return command.Failed, nil
	}
	return command.Full, nil
}
