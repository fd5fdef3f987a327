package student

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/grader/command"
	"flashlab/internal/figure"
	"flashlab/internal/repo"
)

// drawn are the tasks that measure something to draw, and what the picture in out/ is called.
var drawn = map[string]string{"3": "traffic", "5": "split"}

// Plot draws what a task measures.
func Plot(course *Course) command.Command {
	return command.Command{Name: "plot", Summary: "draw traffic (task 3), or splitting (task 5)", Usage: "TASK=3", Define: func(f *flag.FlagSet) command.Run {
		w := whose{course: course}
		task := f.String("task", "3", "`3`: traffic against SRAM; 5: splitting against none")
		w.solutions(f)
		device := f.String("device", "auto", aboutDevice)
		return func([]string) (int, error) { return w.plot(*task, *device) }
	}}
}

// plot has the task's worker measure, and draws the figure that it leaves.
func (w whose) plot(task, device string) (int, error) {
	name, ok := drawn[task]
	if !ok {
		return command.Failed, fmt.Errorf("plot: task %s has no plot; tasks 3 and 5 have one", task)
	}
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	measured, picture := filepath.Join(root, "out", name+".json"), filepath.Join("out", name+".png")
	if code, err := w.start(task, device, []string{"table", measured}); code != command.Full || err != nil {
		return code, err
	}
	text, err := os.Open(measured)
	if err != nil {
		return command.Failed, err
	}
	defer text.Close()
	f, err := figure.Read(text)
	if err != nil {
		return command.Failed, fmt.Errorf("%s: %w", measured, err)
	}
	ctx, stop := command.Interruptible()
	defer stop()
	if err := f.Draw(ctx, root, picture); err != nil {
		return command.Failed, err
	}
	fmt.Println("Written:", picture)
	return command.Full, nil
}
