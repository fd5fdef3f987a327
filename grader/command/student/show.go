package student

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flashlab/device/estimate"
	"flashlab/device/trace"
	"flashlab/grader/command"
	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/show"
	"flashlab/grader/tasks/rooms"
	"flashlab/grader/tasks/task3/sizes"
	"flashlab/internal/cache"
)

// Show writes the page that explains one case.
func Show(course *Course) command.Command {
	return command.Command{Name: "show", Summary: "a page: what the kernels of one CASE do, line by line", Usage: "TASK=2",
		Define: func(f *flag.FlagSet) command.Run {
			s := showing{whose: whose{course: course}}
			f.StringVar(&s.task, "task", "", aboutTask)
			f.StringVar(&s.only, "case", "", "the `case`, as softmax/17x113, or a part of its name: the first that has it")
			f.StringVar(&s.submission, "submission", "", aboutFolder)
			s.all(f)
			f.Uint64Var(&s.seed, "seed", 1, aboutSeed)
			f.StringVar(&s.estimate, "estimate", "", "the `GPU` whose time is estimated; H200 without it; no: none")
			f.StringVar(&s.out, "out", "", "the `file`; out/show.html without it")
			return func([]string) (int, error) {
				switch {
				case count(s.submission != "", s.solution, s.mutant != "") > 1:
					return command.Failed, errors.New("show: only one of SUBMISSION, SOLUTION and MUTANT")
				case s.version != "" && !s.solution:
					return command.Failed, errors.New("show: VERSION needs SOLUTION=1")
				}
				return s.run()
			}
		}}
}

// showing is what `show` was asked for.
type showing struct {
	whose
	task, only, out, estimate string
	seed                      uint64
}

func (s showing) run() (int, error) {
	began := time.Now()
	root, task, err := findOne("show", s.task, "TASK=2 CASE=softmax/17x113")
	if err != nil {
		return command.Failed, err
	}
	subject, err := s.files(root, task)
	if err != nil {
		return command.Failed, err
	}
	devices := run.Devices{Root: root}
	if task.OnDevice() {
		if devices, err = run.Choose(root, "sim"); err != nil {
			return command.Failed, err
		}
	}
	gpu, err := run.Estimating(s.estimate)
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	shown, err := run.Show(ctx, run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: s.seed, Only: s.only, Estimate: gpu,
		Output: filepath.Join(root, "out")})
	if err != nil {
		return command.Failed, fmt.Errorf("show: %w", err)
	}
	p := s.page(root, task, subject, shown)
	if gpu != nil {
		p.Times = times(*gpu, shown.Timed)
	}
	page, err := show.Page(p)
	if err != nil {
		return command.Failed, fmt.Errorf("show: %w", err)
	}
	if s.out == "" {
		s.out = filepath.Join(root, "out", "show.html")
	}
	if err := os.MkdirAll(filepath.Dir(s.out), 0o755); err != nil {
		return command.Failed, err
	}
	if err := cache.WriteFile(s.out, page, 0o644); err != nil {
		return command.Failed, err
	}
	fmt.Printf("%s: written %s (%d KB, %.1f s): open it in a browser\n", shown.Name, relative(root, s.out), len(page)>>10, time.Since(began).Seconds())
	return command.Full, nil
}

// page is what the page tells of it.
func (s showing) page(root string, task *rubric.Task, subject run.Subject, shown *run.Shown) show.Run {
	r := show.Run{Task: string(task.Name), Title: task.Title, Case: shown.Name, Subject: subject.Name, Again: s.again(shown.Name), Release: edition.Name(root),
		Passed: shown.Case.Passed, Stopped: shown.Seen.Stopped, Reason: shown.Case.Reason, Details: shown.Case.Details, Least: shown.Case.Least, Against: shown.Against, Moved: shown.Case.Moved,
		Counts: shown.Seen.Counts, Findings: shown.Seen.Findings}
	for _, one := range shown.Sources {
		r.Sources = append(r.Sources, show.Source(one))
	}
	for _, t := range slices.Concat(shown.Problem.Inputs, shown.Problem.Outputs) {
		r.Shapes = append(r.Shapes, show.Shape{Name: t.Name, Dims: t.Shape, Bytes: t.Bytes()})
	}
	if len(shown.Record) > 0 {
		r.Tiled = tiled(shown, r.Shapes)
	}
	return r
}

// times estimates each kernel's time on a GPU.
func times(g estimate.GPU, kernels []trace.Counts) map[string]show.Time {
	all := map[string]show.Time{}
	for _, c := range kernels {
		w := g.Whole([]trace.Counts{c}, 1)
		t := show.Time{Takes: estimate.Duration(w.Seconds), GPU: g.Name, Why: "bound by " + w.Bound + g.Doubt()}
		for _, l := range w.Lines {
			t.Lines = append(t.Lines, show.LineTime{File: l.File, Line: l.Line, Share: l.Share})
		}
		all[c.Kernel] = t
	}
	return all
}

// tiled is what task 3's code asked of its machine.
func tiled(shown *run.Shown, matrices []show.Shape) *show.Tiled {
	rows, keys := int(shown.Counts[sizes.TileQueries]), int(shown.Counts[sizes.TileKeys])
	room := shown.Problem.Sizes["sram"]
	if room == 0 {
		room = sizes.TiledRoom(shown.Problem, rows, keys)
	}
	return &show.Tiled{Record: shown.Record, Matrices: matrices, Room: room, Causal: shown.Problem.Causal, Rows: rows, Keys: keys}
}

// again is the command that makes the page.
func (s showing) again(name string) string {
	if s.submission != "" { // make has no variable for it
		return fmt.Sprintf("go run ./grader show TASK=%s SUBMISSION=%s CASE=%s SEED=%d", s.task, s.submission, name, s.seed)
	}
	words := []string{"make show", "TASK=" + s.task, "CASE=" + name}
	if s.solution {
		words = append(words, "SOLUTION=1")
	}
	if s.version != "" {
		words = append(words, "VERSION="+s.version)
	}
	if s.mutant != "" {
		words = append(words, "MUTANT="+s.mutant)
	}
	if s.seed != 1 {
		words = append(words, fmt.Sprintf("SEED=%d", s.seed))
	}
	return strings.Join(words, " ")
}

// relative names a file as one sees it from the course's folder.
func relative(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return name
}
