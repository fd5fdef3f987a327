package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/grader/class/course"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

var rubrics = []*rubric.Task{
	{Name: "1", Dir: "task1_a", Title: "A", Points: 1, Device: "none", Files: []string{"a.go"}, Checks: []rubric.Check{{ID: "one", Title: "One", Points: 1}}},
	{Name: "2", Dir: "task2_b", Title: "B", Points: 2, Device: "none", Files: []string{"b.go"}, Checks: []rubric.Check{{ID: "two", Title: "Two", Points: 2}}},
}

// pretend grades as the file's length says, and takes a while.
func pretend(delay time.Duration, log io.Writer) func(context.Context, run.Options) (verdict.Verdict, error) {
	return func(ctx context.Context, o run.Options) (verdict.Verdict, error) {
		data, err := os.ReadFile(filepath.Join(o.Subject.Dirs[0], o.Task.Files[0]))
		if err != nil {
			return verdict.Verdict{}, err
		}
		switch string(data) {
		case "panic":
			panic("a bug of the grader")
		case "fail":
			return verdict.Verdict{}, errors.New("disk full")
		case "slow":
			<-ctx.Done()
			return verdict.Verdict{}, ctx.Err()
		}
		select {
		case <-ctx.Done():
			return verdict.Verdict{}, ctx.Err()
		case <-time.After(delay):
		}
		points := float64(len(data)%5) / 4 * o.Task.Points
		fmt.Fprintf(log, "task %s %s seed %d\n", o.Task.Name, data, o.Seed)
		return verdict.Verdict{Task: o.Task.Name, Seed: o.Seed, Checks: []verdict.Check{{ID: o.Task.Checks[0].ID,
			Parts: []verdict.Part{{Name: "correctness", Score: points, Max: o.Task.Points}}}}}, nil
	}
}

// quiet watches nothing.
type quiet struct{}

func (quiet) Begin(int)                                    {}
func (quiet) Step(intake.Item, registry.Name, int, int)    {}
func (quiet) Done(intake.Item, *record.Record, int, error) {}

// submit writes a submission's files as a folder.
func submit(t *testing.T, dir, student string, texts ...string) {
	for i, text := range texts {
		file := filepath.Join(dir, student, rubrics[i].Dir, rubrics[i].Files[0])
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func options(out string, log io.Writer) Options {
	c, err := course.Parse("course.toml", "seed = \"s\"\n", []registry.Name{"1", "2"})
	if err != nil {
		panic(err)
	}
	return Options{Out: out, Course: c, Tasks: rubrics, Devices: run.Devices{Kind: device.Sim}, Jobs: 3, Release: "r", Tree: Tree{Common: "t"}, Watch: quiet{},
		Grade: pretend(0, log), Settings: Settings{Version: 1}}
}

func runBatch(t *testing.T, o Options, submissions string) Summary {
	items, err := intake.Find(submissions, nil)
	require.NoError(t, err)
	sum, err := Run(context.Background(), o, items)
	require.NoError(t, err)
	return sum
}

// lines is a writer for several goroutines.
type lines struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := strings.FieldsFunc(l.String(), func(r rune) bool { return r == '\n' })
	l.Reset()
	return all
}

func TestNothingIsGradedTwice(t *testing.T) {
	dir, out, log := t.TempDir(), t.TempDir(), &lines{}
	submit(t, dir, "a", "x", "yy")
	submit(t, dir, "b", "xxx", "y")
	o := options(out, log)
	assert.Equal(t, Summary{Submissions: 2, Graded: 4}, runBatch(t, o, dir))
	before := log.take()
	assert.Len(t, before, 4)
	assert.Equal(t, Summary{Submissions: 2, Kept: 4}, runBatch(t, o, dir))
	assert.Empty(t, log.take())

	submit(t, dir, "b", "xxx", "new")
	assert.Equal(t, 1, runBatch(t, o, dir).Graded, "only what changed")
	log.take()

	again := o
	again.Only, again.Regrade = []registry.Name{"1"}, true
	assert.Equal(t, 2, runBatch(t, again, dir).Graded)
	for _, line := range log.take() {
		assert.Contains(t, before, line, "with the same seeds")
	}
	moved := o
	moved.Tree.Common = "another release"
	moved.Only = []registry.Name{"2"}
	assert.Equal(t, 2, runBatch(t, moved, dir).Graded)
	r, err := record.Read(filepath.Join(out, record.Name("a", 1)))
	require.NoError(t, err)
	assert.Nil(t, r.Task("1"), "measured by another release, and not graded now")
}

func TestAnAttemptWithTheSameFilesNeedsNoGrading(t *testing.T) {
	dir, out, log := t.TempDir(), t.TempDir(), &lines{}
	submit(t, dir, "a/1", "x", "yy")
	submit(t, dir, "a/2", "x", "y")
	o := options(out, log)
	o.Jobs = 1
	assert.Equal(t, 3, runBatch(t, o, dir).Graded)
}

func TestOneSubmissionCostsItselfAlone(t *testing.T) {
	dir, out, log := t.TempDir(), t.TempDir(), &lines{}
	submit(t, dir, "a", "x", "yy")
	submit(t, dir, "bug", "panic", "yy")
	submit(t, dir, "disk", "fail", "yy")
	submit(t, dir, "slow", "slow", "yy")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "junk.zip"), []byte("junk"), 0o644))
	o := options(out, log)
	var err error
	o.Course, err = course.Parse("course.toml", "limit = \"50ms\"\n", []registry.Name{"1", "2"})
	require.NoError(t, err)
	sum := runBatch(t, o, dir)
	assert.Equal(t, 1, sum.Trouble)
	require.Len(t, sum.Failed, 2)
	assert.Contains(t, sum.Failed[0], "bug: internal error: a bug of the grader")
	assert.Contains(t, sum.Failed[1], "disk: task 1: disk full")
	slow, err := record.Read(filepath.Join(out, record.Name("slow", 1)))
	require.NoError(t, err)
	assert.Contains(t, slow.Task("1").Result.Refused, "took longer than 50ms")
	assert.Empty(t, slow.Task("2").Result.Refused)
	assert.Len(t, log.take(), 4)

	submit(t, dir, "disk", "x", "yy")
	assert.Equal(t, 1, runBatch(t, o, dir).Graded, "what failed is tried again, with what is mended")
}

func TestTwoBatchesDoNotShareAFolder(t *testing.T) {
	out := t.TempDir()
	lock, err := Lock(out)
	require.NoError(t, err)
	_, err = Run(context.Background(), options(out, io.Discard), nil)
	assert.ErrorContains(t, err, "another batch is at work")
	lock.Close()
	_, err = Run(context.Background(), options(out, io.Discard), nil)
	assert.NoError(t, err)
}

func TestAnInterruptKeepsWhatIsDone(t *testing.T) {
	dir, out, log := t.TempDir(), t.TempDir(), &lines{}
	submit(t, dir, "a", "x", "slow")
	items, err := intake.Find(dir, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = Run(ctx, options(out, log), items)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	r, err := record.Read(filepath.Join(out, record.Name("a", 1)))
	require.NoError(t, err)
	assert.Len(t, r.Tasks, 1)
	assert.NoDirExists(t, filepath.Join(out, work))
}

func TestTheTreesFingerprint(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) Tree {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		f, err := FingerprintOf(root, rubrics)
		require.NoError(t, err)
		return f
	}
	first := put("grader/x.go", "1")
	for _, ignored := range []string{"task1_a/a.go", "out/y.go", "README.md", "grader/x_test.go", "task1_a/solution/a.go", ".git/z.go", "grader/class/x.go", "task1_a/rubric.toml"} {
		assert.Equal(t, first.Whole(), put(ignored, "2").Whole(), ignored)
	}
	for _, common := range []string{"grader/x.go", "device/sim/runtime/a.cpp", "grader/tasks/shared/x.go"} {
		now := put(common, "2")
		assert.NotEqual(t, first.Of(rubrics[0]), now.Of(rubrics[0]), common)
		assert.NotEqual(t, first.Of(rubrics[1]), now.Of(rubrics[1]), common)
		first = now
	}
	for _, own := range []string{"task1_a/other.go", "grader/tasks/task1/ops.go"} {
		now := put(own, "2")
		assert.NotEqual(t, first.Of(rubrics[0]), now.Of(rubrics[0]), own)
		assert.Equal(t, first.Of(rubrics[1]), now.Of(rubrics[1]), "%s is not task 2's", own)
		assert.NotEqual(t, first.Whole(), now.Whole(), own)
		first = now
	}
}

// Points are made from records: only what is measured is a reason to grade again, and only that task.
func TestPointsAndCurvesGradeNobodyAgain(t *testing.T) {
	dir, out, log := t.TempDir(), t.TempDir(), &lines{}
	submit(t, dir, "a", "x", "yy")
	o := options(out, log)
	assert.Equal(t, 2, runBatch(t, o, dir).Graded)
	changed := func(change func(*rubric.Task)) int {
		copied := *rubrics[0]
		copied.Checks = slices.Clone(copied.Checks)
		change(&copied)
		o.Tasks = []*rubric.Task{&copied, rubrics[1]}
		return runBatch(t, o, dir).Graded
	}
	assert.Zero(t, changed(func(t *rubric.Task) { t.Points, t.Title, t.Traffic.Full = 9, "another", 1.5 }))
	assert.Equal(t, 1, changed(func(t *rubric.Task) { t.Limits.Case = 99 }), "task 1 alone")
	assert.Zero(t, changed(func(t *rubric.Task) { t.Limits.Case, t.Points = 99, 1 }))
	assert.Equal(t, 1, changed(func(t *rubric.Task) { t.Limits.Case = 99; t.Checks = append(t.Checks, rubric.Check{ID: "new"}) }))
	o.Course.Speed = &course.Speed{None: 0.1, Full: 0.2}
	assert.Zero(t, runBatch(t, o, dir).Graded)
}

// TestABatchUsesAllGPUs: one submission on each at a time.
func TestABatchUsesAllGPUs(t *testing.T) {
	for _, cards := range []int{1, 2, 4} {
		dir := t.TempDir()
		var items []intake.Item
		for n := range 12 {
			submit(t, dir, fmt.Sprintf("s%d", n), fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n))
		}
		roster, err := intake.Find(dir, nil)
		require.NoError(t, err)
		items = append(items, roster...)
		o := options(filepath.Join(t.TempDir(), "out"), io.Discard)
		o.Jobs = 6
		for n := range cards {
			o.Devices.Cards = append(o.Devices.Cards, nvcc.Card{Index: fmt.Sprint(n), Name: "H200"})
		}
		var mu sync.Mutex
		held, most, used := map[string]bool{}, 0, map[string]bool{}
		o.Grade = func(_ context.Context, one run.Options) (verdict.Verdict, error) {
			c, release := one.GPUs.Take()
			defer release()
			mu.Lock()
			assert.False(t, held[c.Index], "two submissions on GPU %s", c.Index)
			held[c.Index], used[c.Index] = true, true
			most = max(most, len(held))
			mu.Unlock()
			time.Sleep(20 * time.Millisecond)
			mu.Lock()
			delete(held, c.Index)
			mu.Unlock()
			return verdict.Verdict{Task: one.Task.Name}, nil
		}
		_, err = Run(t.Context(), o, items)
		require.NoError(t, err)
		assert.Equal(t, cards, most)
		assert.Len(t, used, cards)
	}
}
