package student

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"flashlab/device"
	"flashlab/grader/bench/tiles"
	"flashlab/grader/command"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/figure"
)

// Tune tries tile sizes for task 4, and parts for task 5.
func Tune(course *Course) command.Command {
	return command.Command{Name: "tune", Summary: "try tile sizes for task 4, or parts for task 5", Usage: "TASK=4",
		Define: func(f *flag.FlagSet) command.Run {
			t := tuning{whose: whose{course: course}, Tuning: run.DefaultTuning()}
			f.StringVar(&t.task, "task", "4", aboutTask)
			t.solutions(f)
			f.StringVar(&t.device, "device", "auto", aboutDevice)
			f.IntVar(&t.Dim, "dim", t.Dim, "the heads' `size`")
			return func([]string) (int, error) { return t.run() }
		}}
}

// tuning is what `tune` was asked for.
type tuning struct {
	whose
	run.Tuning
	task, device string
}

func (t tuning) run() (int, error) {
	root, task, err := findOne("tune", t.task, "TASK=4")
	if err != nil {
		return command.Failed, err
	}
	subject, err := t.files(root, task)
	if err != nil {
		return command.Failed, err
	}
	devices, err := run.Choose(root, t.device)
	if err != nil {
		return command.Failed, err
	}
	gpu := devices.Kind == device.CUDA
	if run.Splits(task) {
		return t.parts(run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: 1, Output: filepath.Join(root, "out")})
	}
	by := "bytes moved, then passes of shared memory's banks"
	if gpu {
		by = "time"
	}
	fmt.Printf("Tuning %s, head dimension %d, on %s: each must be right, then they are ranked by %s\n",
		subject.Name, t.Dim, devices.Name(), by)
	ctx, stop := command.Interruptible()
	defer stop()
	terminal := command.Terminal()
	progress := report.NewProgress(os.Stdout, terminal, "tiles")
	tried, err := run.Tune(ctx, run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: 1,
		Output: filepath.Join(root, "out"), Progress: progress.Case}, t.Tuning)
	progress.Stop()
	if err != nil {
		return command.Failed, fmt.Errorf("tune: %w", err)
	}
	report.Printer{W: os.Stdout, Terminal: terminal}.Tuning(tried, gpu)
	return draw(ctx, root, tiles.Of(tried, t.Dim, gpu))
}

// parts tries in how many parts a step of decoding should be split.
func (t tuning) parts(o run.Options) (int, error) {
	gpu := o.Devices.Kind == device.CUDA
	tokens, about := 1024, "1 sequence, 2 heads × %d, %d tokens in the cache"
	by := "bytes moved: what splitting costs; what it gains shows on a GPU alone"
	if gpu {
		tokens, about, by = 32768, "1 sequence, 32 heads × %d, %d tokens in the cache", "time"
	}
	about = fmt.Sprintf(about, t.Dim, tokens)
	fmt.Printf("Tuning %s, %s, on %s: each number of parts must be right, then they are ranked by %s\n", o.Subject.Name, about, o.Devices.Name(), by)
	ctx, stop := command.Interruptible()
	defer stop()
	terminal := command.Terminal()
	progress := report.NewProgress(os.Stdout, terminal, "parts")
	o.Progress = progress.Case
	tried, err := run.TuneParts(ctx, o, t.Dim, tokens)
	progress.Stop()
	if err != nil {
		return command.Failed, fmt.Errorf("tune: %w", err)
	}
	report.Printer{W: os.Stdout, Terminal: terminal}.Tuning(tried, gpu)
	return draw(ctx, o.Root, tiles.Parts(tried, about, gpu))
}

// draw writes the picture, unless nothing was right.
func draw(ctx context.Context, root string, f figure.Figure) (int, error) {
	if f.Empty() {
		return command.Full, nil
	}
	if err := f.Draw(ctx, root, "out/tune.png"); err != nil {
		return command.Failed, fmt.Errorf("tune: %w", err)
	}
	fmt.Println("Written: out/tune.png")
	return command.Full, nil
}
