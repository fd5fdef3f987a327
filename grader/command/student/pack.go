package student

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/edition"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/look"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/harmless"
)

// Pack writes the zip that a student hands in. Whatever it finds, it writes the zip and the exit
// code is 0.
var Pack = command.Command{Name: "pack", Summary: "write the zip to hand in, and its receipt",
	Define: func(f *flag.FlagSet) command.Run {
		out := f.String("o", "", "`file` to write; out/submission.zip without it")
		quick := f.Bool("quick", false, "only write the zip: do not build and try the files")
		return func([]string) (int, error) { return pack(*out, *quick) }
	}}

func pack(out string, quick bool) (int, error) {
	root, tasks, err := find("")
	if err != nil {
		return command.Failed, err
	}
	_, bonus, err := find(registry.Bonus)
	if err != nil {
		return command.Failed, err
	}
	tasks = append(tasks, begunOf(root, bonus)...)
	if out == "" {
		out = filepath.Join(root, "out", "submission.zip")
	}
	z, err := handin.Write(root, out, tasks)
	if err != nil {
		return command.Failed, fmt.Errorf("pack: %w", err)
	}
	answers := "no Results.md: make grade makes it, and the handouts' questions are answered there"
	if z.Results {
		answers = "with Results.md"
	}
	fmt.Printf("Packed: %s (%d files, %d KB; %s)\n", shown(root, z.Path), len(z.Files), (z.Size+1023)/1024, answers)
	fmt.Printf("Receipt: %s (your feedback and the gradebook will show the same)\n", z.Receipt.Short())
	if z.Board != "" && handin.CheckName(z.Board) == nil {
		harmless.Printf("Leaderboard: as %q, if your class has one and the name is no one else's (%s)\n", z.Board, handin.LeaderboardFile)
	}
	if z.Requests > 0 {
		fmt.Printf("Regrade requests: %d (%s)\n", z.Requests, handin.RegradeFile)
	}
	for _, trouble := range z.Trouble {
		harmless.Println("warning:", trouble)
	}
	if m, err := edition.Load(os.DirFS(root)); err == nil {
		if changed := m.Changed(root); len(changed) > 0 {
			harmless.Printf("note: files of the course are changed here (%s). They are not handed in: your files are graded with the course's own\n", joinFirst(changed, 5))
		}
	}
	if quick {
		return command.Full, nil
	}
	fmt.Println("\nA look at each task, in the simulator; make grade says more. The zip is written, whatever comes:")
	ctx, stop := command.Interruptible()
	defer stop()
	warned := lookAtAll(ctx, root, z, tasks)
	if warned {
		fmt.Println("\nWarnings stop nothing: hand the zip in as it is, or fix what they name and pack again.")
	}
	return command.Full, nil
}

// lookAtAll tries each task, and says what it sees.
func lookAtAll(ctx context.Context, root string, z handin.Zip, tasks []*rubric.Task) (warned bool) {
	devices, err := run.Choose(root, "sim")
	for _, t := range tasks {
		if len(t.Files) == 0 {
			continue // what counts there are other tasks' files
		}
		var l look.Look
		if err == nil {
			l, err = look.At(ctx, z, root, t, devices, rooms.Ops)
		}
		if ctx.Err() != nil {
			fmt.Println("Interrupted. The zip is complete.")
			return false
		}
		if err != nil {
			harmless.Printf("  task %s  could not be checked: %s\n", t.Name, indent(err.Error()))
			warned, err = true, nil
			continue
		}
		head := fmt.Sprintf("  task %s  ", t.Name)
		if l.Line != "" {
			harmless.Println(head + l.Line)
		}
		for _, w := range l.Warnings {
			harmless.Println(head + "warning: " + indent(w))
			warned = true
		}
	}
	return warned
}

// indent sets the further lines of a text below its first.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n            ") }

// joinFirst lists the first n names, and counts the others.
func joinFirst(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
