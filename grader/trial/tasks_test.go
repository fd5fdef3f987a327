package trial

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/build"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/fates"
)

// everyTask runs a test for each task of the course, next to the other such tests: at the end of
// each the longest task alone would run.
func everyTask(t *testing.T, f func(t *testing.T, root string, task *rubric.Task)) {
	t.Parallel()
	root := ready(t)
	_, tasks := allTasks(t)
	for _, task := range tasks {
		t.Run(task.Dir, func(t *testing.T) {
			t.Parallel()
			f(t, root, task)
		})
	}
}

// measurable is the points that need no GPU.
func measurable(task *rubric.Task) float64 {
	var sum float64
	if task.Name.WarmUp() {
		return 0
	}
	for _, c := range task.Checks {
		sum += c.Points - task.Parts(c).Speed
	}
	return sum
}

func TestSolutionsGetFullMarks(t *testing.T) {
	everyTask(t, func(t *testing.T, root string, task *rubric.Task) {
		if task.Name == "7" && os.Getenv(allMutants) == "" { // most of a minute for a whole model
			t.Skip("make test-all grades this task's solution")
		}
		v := gradeOn(t, root, task, run.Solution(root, task), "")
		got, most := v.Points()
		assert.True(t, v.Full(), feedback(v))
		assert.InDelta(t, measurable(task), most, 1e-9)
		assert.InDelta(t, most, got, 1e-9)
		for _, c := range v.Checks {
			for _, p := range c.Parts {
				assert.True(t, !c.Optional || p.NotMeasured != "" || p.Score == p.Max, "%s, which is optional: %s", c.ID, p.Name)
			}
		}
	})
}

func TestStubsGetNothingAndSaySo(t *testing.T) {
	everyTask(t, func(t *testing.T, root string, task *rubric.Task) {
		// make test lays the solutions over the stubs for the tests' own
		// build, but the grader reads the tree.
		v := gradeOn(t, root, task, run.Submission(root, task, ""), "")
		got, most := v.Points()
		assert.Zero(t, got)
		assert.InDelta(t, measurable(task), most, 1e-9, "all of it was measured")
		assert.False(t, v.Full())
		first := v.Checks[0].Title // what to write first
		if !task.Name.WarmUp() {
			var said bytes.Buffer
			report.Printer{W: &said}.Next([]verdict.Verdict{v})
			assert.Equal(t, "Next: "+first+" is still the stub: "+task.Dir+"/README.md says where to start\n", said.String())
		}
		for _, c := range v.Checks {
			if task.Name.WarmUp() && (c.ID == "pad" || c.ID == "race") { // given, nearly right
				assert.True(t, slices.ContainsFunc(c.Parts, func(p verdict.Part) bool { return p.Score < p.Max }), "%s is done", c.ID)
				continue
			}
			for _, k := range c.Cases {
				if k.Class == "not_run" {
					assert.Contains(t, k.Reason, "comes first", k.Name)
					continue
				}
				assert.Equal(t, "not_implemented", k.Class, k.Name)
				assert.Contains(t, k.Reason, "not implemented", k.Name)
			}
		}
	})
}

// inexact are versions that round too much, on purpose, and the checks that say so.
var inexact = map[string][]string{
	"task2_unfused/5_halves": {"gemm-nt", "gemm-nn"},
	"task4_flash/5_halves":   {"full", "causal"},
}

// another are versions that do on purpose what the task forbids, such as keeping another format, and what is said of
// the checks that forbid it: their numbers are right in theirs. Nothing need be said of a cache that the grader gives them.
var another = map[string]map[string]string{
	"bonus/b7_kvcache/0_by_token": {
		"append-int4": "K is quantised by token, as V is, and no group is ever open",
		"turns-int4":  "right for another format, INT4 by token",
		"decode-int4": "",
	},
	"bonus/b10_backward/1_written": {
		"dv":    "the values are right, but",
		"dq":    "no matrix with a number for each pair of query and key",
		"dk":    "no matrix with a number for each pair of query and key",
		"twice": "no matrix with a number for each pair of query and key",
	},
	"bonus/b10_backward/2_atomics": {"twice": "have other bits in the second: a sum whose terms arrive in any order"},
}

// TestVersionsAreRight: they are slower, or move more, but never wrong, except by rounding where they
// are to show that.
func TestVersionsAreRight(t *testing.T) {
	if os.Getenv(allMutants) == "" {
		t.Skip("make test-all grades earlier versions")
	}
	everyTask(t, func(t *testing.T, root string, task *rubric.Task) {
		for _, name := range build.Versions(root, task) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				files, err := Base{Task: task, Version: name, SHA256: map[string]string{}}.Files(root)
				require.NoError(t, err)
				onRecord(t, "versions", task, name, files)
				v := gradeOn(t, root, task, run.Version(root, task, name), "")
				require.Empty(t, v.Refused)
				for id, says := range another[task.Dir+"/"+name] {
					t.Run(id, func(t *testing.T) {
						alone := gradeOn(t, root, withChecks(task, []string{id + " correctness"}), run.Version(root, task, name), "")
						require.Len(t, alone.Checks, 1)
						assert.Less(t, alone.Checks[0].Part("correctness").Score, alone.Checks[0].Part("correctness").Max)
						assert.Contains(t, feedback(alone), says)
						assert.Contains(t, feedback(alone), "no findings")
					})
				}
				rounds := inexact[task.Dir+"/"+name]
				if len(rounds) > 0 {
					assert.Contains(t, feedback(v), "more rounding than float32 explains")
					assert.Contains(t, feedback(v), "no findings")
				}
				for _, c := range v.Checks {
					if _, ok := another[task.Dir+"/"+name][c.ID]; ok {
						continue
					}
					if slices.Contains(rounds, c.ID) {
						assert.Zero(t, c.Part("correctness").Score, c.ID)
						continue
					}
					if len(rounds) > 0 && c.ID == "attention" { // it waits for the products
						continue
					}
					for _, which := range []string{"correctness", "safety"} {
						p := c.Part(which)
						assert.InDelta(t, p.Max, p.Score, 1e-9, "%s %s:\n%s", c.ID, which, feedback(v))
					}
				}
			})
		}
	})
}

// allMutants is set by `make test-all`; without it each task is tried with its
// first mutant only.
const allMutants = fates.All

func TestMutantsLosePoints(t *testing.T) {
	everyTask(t, func(t *testing.T, root string, task *rubric.Task) {
		all, err := Load(root, Mutants, task)
		require.NoError(t, err)
		require.NotEmpty(t, all)
		if os.Getenv(allMutants) == "" {
			if task.Name == "7" { // half a minute of a whole model
				t.Skip("make test-all tries the mutants of this task")
			}
			all = all[:1]
		}
		for _, m := range all {
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel() // one task has many more than another
				specimenOnRecord(t, Mutants, m)
				judge(t, m, gradeOn(t, root, withChecks(task, slices.Concat(m.Lose, m.Keep)), m.Subject(root), m.Only))
			})
		}
	})
}

// withChecks is the task with the checks that these parts belong to. Nothing is expected of the
// others, and of many mutants they would be most of the time.
func withChecks(task *rubric.Task, parts []string) *rubric.Task {
	named := func(id string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, id+" ") })
	}
	few := *task
	few.Checks = nil
	for _, c := range task.Checks {
		if named(c.ID) {
			c.After = slices.DeleteFunc(slices.Clone(c.After), func(id string) bool { return !named(id) })
			few.Checks = append(few.Checks, c)
		}
	}
	return &few
}

// TestASolutionHasNoCopyOfWhatIsProvided: it is built in its task's folder, where that is.
func TestASolutionHasNoCopyOfWhatIsProvided(t *testing.T) {
	everyTask(t, func(t *testing.T, root string, task *rubric.Task) {
		for _, f := range task.Provided {
			assert.NoFileExists(t, filepath.Join(root, task.Solution(), f))
		}
	})
}
