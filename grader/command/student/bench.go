package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/bench/measure"
	"flashlab/grader/bench/page"
	"flashlab/grader/command"
	"flashlab/grader/edition"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/peers"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// timing is what `bench` was asked for.
type timing struct {
	whose
	task, device, workload string
	ladder                 string
	steps                  bench.Ladder // of that name
	docs, again, commit    string
	quick, here            bool
	mistakes, mutants      bool
	thresholds, compile    bool
	runs                   int
	seed                   uint64
	released               bool // this is the students' tree, which has no solutions
}

// Bench times the reference solutions, or a submission's code.
func Bench(course *Course) command.Command {
	return command.Command{Name: "bench", Summary: "time the solutions beside cuBLAS and PyTorch", Usage: "TASK=4",
		Define: func(f *flag.FlagSet) command.Run {
			b := timing{whose: whose{course: course}}
			f.StringVar(&b.task, "task", "", aboutTask+"; all that are timed without it")
			f.StringVar(&b.device, "device", "auto", aboutDevice)
			f.StringVar(&b.submission, "submission", "", "time the files in this `folder`, beside the reference solutions; in the students' tree, its own without it")
			f.StringVar(&b.workload, "workload", "", "only workloads whose id begins with this `text`, as flash-4")
			f.StringVar(&b.again, "again", "", "compare the ratios with those of an earlier run, the reference.json that DOCS=1 wrote: `file`")
			f.BoolVar(&b.mistakes, "mistakes", false, "measure wrongly on purpose, for docs/measuring.md")
			f.BoolVar(&b.quick, "quick", false, "fewer runs")
			f.IntVar(&b.runs, "runs", 0, fmt.Sprintf("how `many` runs of each kernel to time; default: %d, and %d for the reference page", usualRuns, pageRuns))
			f.Uint64Var(&b.seed, "seed", 0, aboutSeed+"; without it, a new one is drawn")
			if course != nil {
				f.StringVar(&b.version, "version", "", "time an earlier version of the reference solution by its `name`; needs TASK")
				f.StringVar(&b.docs, "o", "", "also write reference.md, reference.json and pictures into this `folder` once all tasks are timed; a second call resumes where the first stopped")
				f.BoolVar(&b.here, "docs", false, "the same into docs: reference.md is made by this alone")
				f.StringVar(&b.commit, "commit", "", "the commit's `hash` for that page, if git does not know it")
				f.StringVar(&b.ladder, "ladder", "", "time all versions of one kind of kernel beside each other, and draw them: `"+ladderNames()+"`")
				f.BoolVar(&b.thresholds, "thresholds", false, "on the graded workloads, time the baseline and the same in float32; print the thresholds that stand for the same times")
				f.BoolVar(&b.compile, "compile", false, "time nothing: only compile the kernels, and run a small workload of each operation")
				f.BoolVar(&b.mutants, "mutants", false, "run what cheats the clock (grader/trial/specimens/timing), and say what catches it")
			}
			return func([]string) (int, error) {
				if b.here {
					b.docs = "docs"
				}
				if err := b.check(); err != nil {
					return command.Failed, err
				}
				return b.run()
			}
		}}
}

// How many runs of each racer are timed.
const (
	usualRuns = 15
	pageRuns  = 7
)

// ladderNames are those that the rubrics have.
var ladderNames = sync.OnceValue(func() string {
	root, err := repo.Root()
	if err != nil {
		return "name"
	}
	tasks, err := rubric.LoadAll(root)
	if err != nil { // which every command that needs one says
		return "name"
	}
	return bench.LadderNames(tasks)
})

// check says which variables do not go together, and fills in what was not given.
func (b *timing) check() error {
	if b.version != "" && (b.task == "" || b.submission != "") {
		return errors.New("bench: VERSION needs TASK, and no SUBMISSION")
	}
	if b.again != "" && (b.mistakes || b.mutants) {
		return errors.New("bench: AGAIN compares ratios, and MISTAKES and MUTANTS measure none")
	}
	if b.ladder != "" {
		root, err := repo.Root()
		if err != nil {
			return err
		}
		tasks, err := rubric.LoadAll(root)
		if err != nil {
			return err
		}
		b.steps, err = bench.FindLadder(tasks, b.ladder)
		if err != nil {
			return fmt.Errorf("bench: LADDER: %w", err)
		}
		if b.task != "" || b.version != "" || b.submission != "" || b.workload != "" || b.docs != "" || b.again != "" || b.mistakes || b.mutants {
			return errors.New("bench: LADDER has its own task, versions and workload: with it go only RUNS, SEED and DEVICE")
		}
		b.task = string(b.steps.Workload.Task)
	}
	if b.thresholds && (b.docs != "" || b.again != "" || b.mistakes || b.mutants || b.workload != "") {
		return errors.New("bench: THRESHOLDS times the graded workloads: give only TASK, RUNS, SEED and DEVICE with it")
	}
	if b.seed == 0 {
		b.seed = rand.Uint64N(run.Seeds)
	}
	if b.runs == 0 {
		if b.runs = usualRuns; b.docs != "" {
			b.runs = pageRuns
		}
	}
	if b.quick {
		b.runs = min(b.runs, 5)
	}
	return nil
}

func (b timing) run() (int, error) {
	root, tasks, err := find(b.task)
	if err != nil {
		return command.Failed, err
	}
	if b.task == "" && (b.docs != "" || b.thresholds) && !b.mistakes { // the bonus tasks, too, which belong to no total
		if tasks, err = rubric.LoadAll(root); err != nil {
			return command.Failed, err
		}
	}
	var earlier page.Document
	if b.again != "" { // before anything is timed: a run takes minutes
		if earlier, err = page.Read(b.again); err != nil {
			return command.Failed, fmt.Errorf("bench: AGAIN: %w", err)
		}
	}
	_, err = edition.Load(os.DirFS(root))
	b.released = err == nil || b.course == nil
	b.solution = b.submission == "" && !b.released
	if b.docs != "" && (!b.solution || b.version != "" || b.workload != "") {
		return command.Failed, errors.New("bench: DOCS (or O) writes the page of the reference solutions; times of a submission, an earlier version or one workload are only printed")
	}
	devices, err := run.Choose(root, b.device)
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	fmt.Printf("Timing %s on %s, seed %d\n", b.who(), devices.Name(), b.seed)
	if devices.Kind != device.CUDA {
		fmt.Println("No GPU here, so nothing is timed: small workloads are run and checked instead.")
	}
	m := measure.Options{Options: run.Options{Root: root, Ops: rooms.Ops, Devices: devices, Seed: b.seed, Output: filepath.Join(root, "out")},
		Runs: b.runs, Workload: b.workload, Racer: b.racer(), Beside: (!b.solution || b.version != "") && !b.released, Released: b.released,
		Commit: b.commit, Docs: b.docs, Absent: "there is no GPU",
		Whose: func(t *rubric.Task) (run.Subject, error) { return b.files(root, t) }}
	if b.solution && b.version == "" && b.course != nil {
		m.Ways = func(ctx context.Context) (string, error) { return b.course.Ways(ctx, root, devices) }
	}
	if b.docs != "" && !b.mistakes {
		if m.Page, err = b.page(ctx, root, devices, m.Has); err != nil {
			return command.Failed, fmt.Errorf("bench: DOCS: %w", err)
		}
		m.Commit = m.Page.Made.Commit
		if err := b.ahead(ctx, m, tasks); err != nil {
			return command.Failed, err
		}
	}
	if devices.Kind == device.CUDA && !b.compile && !b.thresholds {
		if m.Torch, err = peers.StartTorch(ctx, root); err == nil {
			defer m.Torch.Close()
			fmt.Println("Beside it:", m.Torch.About)
		} else {
			m.Torch, m.Absent = nil, err.Error()
			fmt.Println("PyTorch is not compared with:", err)
		}
	}
	code, some := command.Full, false
	again := comparison{file: b.again, earlier: earlier}
	for _, t := range tasks {
		if b.mistakes && t.Name != "4" || !b.mistakes && !m.Has(t) {
			continue
		}
		if b.stored(m.Page, t.Name) {
			some = true
			continue
		}
		m.Task, some = t, true
		if m.Subject, err = m.Whose(t); err != nil {
			return command.Failed, err
		}
		right, err := b.time(ctx, m, &again)
		if errors.Is(err, context.Canceled) {
			return command.Failed, errors.New("interrupted")
		}
		if err != nil {
			return command.Failed, fmt.Errorf("task %s: %w", t.Name, err)
		}
		if !right {
			code = command.Less
		}
	}
	if !some {
		return command.Failed, fmt.Errorf("bench: nothing to time: no workload%s%s; docs/reference.md shows those that there are", of(" of task ", b.task), of(" whose id begins with ", b.workload))
	}
	again.print()
	if m.Page != nil && !m.Page.Finished {
		if _, missing := m.Page.Document(); len(missing) == 0 {
			return code, m.Page.Finish()
		}
	}
	return code, nil
}

// of is a part of a sentence about a flag, where that was given.
func of(words, value string) string {
	if value == "" {
		return ""
	}
	return words + value
}

// time does what was asked for with one task, and tells whether all was right.
func (b timing) time(ctx context.Context, m measure.Options, again *comparison) (right bool, err error) {
	switch {
	case b.ladder != "":
		return m.Ladder(ctx, b.steps)
	case b.mistakes:
		return true, m.Mistakes(ctx)
	case b.thresholds:
		return m.Thresholds(ctx)
	case b.compile:
		return m.Small(ctx)
	case b.mutants:
		cheats, err := b.course.Cheats(m.Root, m.Task)
		if err != nil {
			return false, err
		}
		return m.Cheats(ctx, cheats)
	}
	p, right, err := m.Measure(ctx)
	if err == nil {
		again.add(p)
	}
	return right, err
}

// racer is what reports call the code that is timed.
func (b timing) racer() string {
	switch {
	case b.submission != "":
		return "submission"
	case b.released:
		return "yours"
	case b.version != "":
		return build.VersionTitle(b.version)
	}
	return ""
}

// who says in words whose code is timed.
func (b timing) who() string {
	switch {
	case b.submission != "":
		return "the files in " + b.submission
	case b.released:
		return "your files"
	case b.mutants:
		return "what cheats the clock"
	case b.version != "":
		return build.VersionTitle(b.version) + " of the reference solution,"
	}
	return "the reference solutions"
}
