package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// arrows are which packages, by the beginnings of their names, may import which others. The first
// line that fits a package is its own; tests are free. ARCHITECTURE.md draws it.
var arrows = []struct{ from, to string }{
	{"grader", "grader/command grader/grading/sandbox"},
	// The commands are at the top: instructors' ones know those of students, not the other way.
	{"grader/command/instructor", "grader/command grader/class grader/trial grader/handouts grader/release grader/slurm grader/bench/amd grader/bench/kernels grader/bench/measure grader/bench/page grader/bench/talk grader/bench/ways/asked grader/edition grader/grading grader/tasks device internal"},
	{"grader/command/student", "grader/command grader/bench grader/show grader/slurm grader/demo grader/edition grader/grading grader/tasks device internal"},
	{"grader/command", "internal"},
	// A class reads verdicts; only its batch grades.
	{"grader/class/batch", "grader/class " + verdicts + " grader/grading/run grader/grading/judge grader/tasks device internal"},
	{"grader/class/gradescope", "grader/class " + verdicts + " grader/tasks/registry grader/release internal"},
	{"grader/class/cluster", "grader/class " + verdicts + " grader/slurm grader/tasks/registry internal"},
	// What submissions are compared with: solutions, and the versions that build puts together.
	{"grader/class/folder", "grader/class " + verdicts + " grader/grading/build grader/tasks/registry device internal"},
	{"grader/class", "grader/class " + verdicts + " grader/tasks/registry device internal"},
	{"grader/trial/systematic", "grader/grading grader/tasks device internal"},
	{"grader/trial", "grader/trial grader/class/intake grader/class/record grader/grading grader/tasks/registry internal"},
	{"grader/release", "grader/grading/copies grader/edition grader/grading/handin grader/grading/report grader/grading/rubric grader/tasks/registry internal"},
	// A release is made, and commands are started in it.
	{"grader/handouts", "grader/trial grader/release grader/grading/rubric grader/tasks/registry internal"},
	// A program on the solutions, which the command starts.
	{"grader/bench/ways", "grader/bench/ways grader/bench/price bonus/* attn device nn tensor internal"},
	// A program of plain Go, which a command starts.
	{"grader/bench/price", "grader/bench/price grader/grading/report nn tensor internal"},
	{"grader/bench", "grader/bench grader/grading grader/tasks device internal"},
	// A page of what the simulator saw, which links none.
	{"grader/show", "grader/grading/verdict device/trace hbm internal"},
	{"grader/slurm", "grader/slurm grader/grading/handin grader/grading/rubric grader/grading/verdict internal"},
	{"grader/demo", "device"},
	{"grader/edition", "internal"},
	// Grading knows the list of tasks, and nothing of any task.
	{"grader/grading", "grader/grading grader/tasks/registry grader/edition attn device internal nn tensor"},
	{"grader/tasks/registry", ""},
	// Students' code is in the workers alone.
	{"grader/tasks/*/worker", "task* bonus/* grader/tasks grader/grading attn device hbm internal nn tensor"},
	{"grader/tasks", "grader/tasks grader/grading attn device hbm internal nn tensor"},
	// Python asks a task's code how it launches: a program each, on a device that knows no task and only plans.
	{"python/planner/plans", "attn device internal"},
	{"python/planner", "python/planner/plans task* bonus/* attn device"},
	{"task*", "attn device hbm internal nn tensor"},
	{"bonus/*", "attn device hbm internal nn tensor"},
	{"hbm", "tensor"},
	{"nn", "nn attn device tensor"},
	{"attn", "attn device tensor"},
	{"device", "device internal tensor"},
	{"tensor", "tensor"},
	{"internal", "internal"},
}

// verdicts is what a class needs of grading.
const verdicts = "grader/grading/verdict grader/grading/report grader/grading/rubric grader/grading/handin grader/grading/marks grader/grading/copies"

// begins tells whether a package is one of these, or below one.
func begins(name, these string) bool {
	return slices.ContainsFunc(strings.Fields(these), func(one string) bool {
		form := strings.ReplaceAll(regexp.QuoteMeta(one), `\*`, `[^/]*`)
		return regexp.MustCompile("^" + form + "(/|$)").MatchString(name)
	})
}

func TestArrows(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		name := strings.TrimPrefix(names[0], "flashlab/")
		at := slices.IndexFunc(arrows, func(a struct{ from, to string }) bool {
			return a.from == name || a.from != "grader" && begins(name, a.from)
		})
		if !assert.GreaterOrEqual(t, at, 0, "%s: no line of the table is for it", name) {
			continue
		}
		for _, i := range names[1:] {
			to, ours := strings.CutPrefix(i, "flashlab/")
			if ours {
				assert.True(t, begins(to, arrows[at].to), "%s must not import %s", name, to)
			}
		}
	}
}

// light are packages that show, sum up or carry results: they link neither the simulator nor a model,
// however many packages lie between.
var light = []string{"class/pages", "class/gradebook", "class/record", "class/similar", "grading/handin", "grading/rubric", "grading/verdict", "grading/marks", "grading/report", "show"}

func TestResultsLinkNoSimulator(t *testing.T) {
	for _, name := range light {
		out, err := exec.Command("go", "list", "-deps", "./"+name).Output()
		require.NoError(t, err, name)
		for _, d := range strings.Fields(string(out)) {
			if d != "flashlab/grader/tasks/registry" {
				assert.NotRegexp(t, "^flashlab/(device/sim|nn|task|bonus|grader/tasks)", d, "%s links it", name)
			}
		}
	}
}

// TestARoomKnowsItsOwnTask: it may import the rooms of tasks that its rubric uses, and no others.
func TestARoomKnowsItsOwnTask(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	all, err = rubric.WithWarmUp(root, all)
	require.NoError(t, err)
	room := map[registry.Name]string{}
	for _, one := range registry.All {
		room[one.Name] = one.Room()
	}
	for _, task := range all {
		list := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, "./"+room[task.Name]+"/...")
		list.Dir = root
		out, err := list.Output()
		require.NoError(t, err)
		for _, other := range registry.All {
			if other.Name == task.Name || slices.Contains(task.Uses, other.Name) {
				continue
			}
			for _, i := range strings.Fields(string(out)) {
				assert.False(t, begins(strings.TrimPrefix(i, "flashlab/"), other.Room()), "the room of task %s imports %s, and its rubric does not use task %s", task.Name, i, other.Name)
			}
		}
	}
}

// What students have must build without what they do not have.
func TestAReleaseNeedsNothingOfTheInstructors(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "main.go", "student.go").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	assert.Contains(t, deps, "flashlab/grader/command/student")
	for _, d := range deps {
		assert.NotRegexp(t, "^flashlab/grader/(class|trial|release|command/instructor)(/|$)", d)
	}
}
