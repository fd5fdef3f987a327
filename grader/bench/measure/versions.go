package measure

import (
	"context"
	"fmt"
	"strings"

	"flashlab/grader/bench"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/run"
)

// versions times all versions of the solution on the same workloads, the graded one last.
func (b Options) versions(ctx context.Context) (all []page.Version, err error) {
	workloads, err := bench.VersionWorkloads(b.Task)
	if err != nil {
		return nil, err
	}
	names := build.Versions(b.Root, b.Task)
	if len(workloads) == 0 || len(names) == 0 {
		return nil, nil
	}
	fmt.Println("\nThe versions of the solution:")
	for _, name := range append(names, "") {
		o := b.Options
		if name != "" {
			o.Subject = run.Version(o.Root, o.Task, name)
		}
		some, err := b.onEach(ctx, o, name, workloads)
		if err != nil {
			return nil, fmt.Errorf("version %q: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// onEach times one version on each workload.
func (b Options) onEach(ctx context.Context, o run.Options, name string, workloads []race.Workload) (all []page.Version, err error) {
	r, closed, err := run.Open(ctx, o, turn)
	if err != nil {
		return nil, err
	}
	defer closed()
	timing := b.race()
	timing.Wide = false // the solution's rows have it
	for _, w := range workloads {
		row, err := race.Measure(ctx, r, w, timing)
		if err != nil {
			return nil, err
		}
		why := forgive(row, bench.Inexact(b.Task, name, w.Op))
		fmt.Printf("%s:%s", strings.TrimSpace(name+" "+o.Subject.Name), row.Text(race.SelfTest{}))
		fmt.Print(onPurpose(why))
		row.Kernels = b.hashOf(name)
		all = append(all, page.Version{Name: name, Inexact: why != "", Row: row})
	}
	return all, nil
}
