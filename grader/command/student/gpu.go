package student

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/command"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/slurm"
	"flashlab/grader/slurm/gpujob"
	"flashlab/internal/repo"
)

// remote are the commands that `gpu` can run on a node.
var remote = []string{"grade", "profile", "sanitize"}

// GPU grades on a GPU of the cluster whose login node this is.
func GPU(course *Course) command.Command {
	return command.Command{Name: "gpu", Summary: "grade in a Slurm job, from a login node", Usage: "TASK=4",
		Define: func(f *flag.FlagSet) command.Run {
			j := job{whose: whose{course: course}}
			f.StringVar(&j.task, "task", "", aboutTask+"; all of them without it")
			f.StringVar(&j.only, "case", "", aboutCase)
			f.StringVar(&j.device, "device", "cuda", "cuda, or auto or sim, on the node")
			j.solutions(f)
			f.StringVar(&j.do, "do", "grade", "`what` to run there: "+strings.Join(remote, ", "))
			example := f.Bool("example", false, "print a site.toml to start from")
			return func([]string) (int, error) {
				if *example {
					fmt.Print(slurm.Example)
					return command.Full, nil
				}
				return j.run()
			}
		}}
}

// job is what `gpu` was asked for.
type job struct {
	whose
	task, only, device, do string
}

func (j job) run() (int, error) {
	if !slices.Contains(remote, j.do) {
		return command.Failed, fmt.Errorf("gpu: DO=%s: want %s", j.do, strings.Join(remote, ", "))
	}
	root, err := repo.Root()
	if err != nil {
		return command.Failed, err
	}
	all, err := rubric.LoadAll(root)
	if err == nil {
		all, err = rubric.WithWarmUp(root, all)
	}
	if err != nil {
		return command.Failed, err
	}
	if _, err := rubric.Find(all, j.task); err != nil {
		return command.Failed, err
	}
	site, found, err := slurm.LoadSite(filepath.Join(root, slurm.SiteName))
	if err != nil {
		return command.Failed, err
	}
	if !found {
		fmt.Printf("There is no %s, so Slurm's defaults are asked for, with one GPU for %d minutes (out/bin/grader gpu EXAMPLE=1 >%s writes one to edit; docs/gpu.md)\n", slurm.SiteName, site.Time, slurm.SiteName)
	}
	binary, err := os.Executable()
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	r, err := gpujob.Run(ctx, gpujob.Options{Root: root, Grader: binary, Site: site, Tasks: all, Name: j.do + j.task, Args: j.args(), W: os.Stdout})
	if err != nil {
		return command.Failed, fmt.Errorf("gpu: %w", err)
	}
	if j.do != "grade" || j.only != "" || r.Code == command.Failed {
		return r.Code, nil
	}
	// The results go where make grade would have written them.
	verdicts, err := r.Verdicts()
	if err != nil {
		return command.Failed, fmt.Errorf("gpu: %w", err)
	}
	if err := (grading{whose: j.whose}).write(root, verdicts); err != nil {
		return command.Failed, err
	}
	if j.own() {
		report.Printer{W: os.Stdout, Terminal: command.Terminal()}.Next(verdicts)
	}
	return r.Code, nil
}

// args are the grader's on the node.
func (j job) args() []string {
	args := []string{j.do, "-device", j.device}
	if j.task != "" {
		args = append(args, "-task", j.task)
	}
	if j.only != "" {
		args = append(args, "-case", j.only)
	}
	if j.solution {
		args = append(args, "-solution")
	}
	return args
}
