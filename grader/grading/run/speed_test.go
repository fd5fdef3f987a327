package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// madeUp runs and checks workloads in the simulator, and makes up their times: ours
// takes a millisecond, the baseline ratio times as long.
type madeUp struct {
	ratio float64
	noisy string
	held  string
	rows  []race.Row
}

func (m *madeUp) Test(ctx context.Context, r *supervise.Runner, op string, o race.Options) (race.SelfTest, error) {
	test, err := race.Test(ctx, r, op, o)
	test.Not, test.Noisy, test.Free = "", m.noisy, 1<<40
	return test, err
}

func (m *madeUp) Measure(ctx context.Context, r *supervise.Runner, w race.Workload, o race.Options) (race.Row, error) {
	o.Runs, o.Warm = 2, 1
	row, err := race.Measure(ctx, r, w, o)
	for i := range row.Entries {
		e := &row.Entries[i]
		e.Not, e.Times = "", []float64{1e6, 1e6, 1e6}
		if i > 0 {
			e.Times = []float64{m.ratio * 1e6, m.ratio * 1e6, m.ratio * 1e6}
		}
		e.Stats = timing.Describe(e.Times)
	}
	if len(row.Entries) > 0 {
		row.Entries[0].Held = m.held
	}
	m.rows = append(m.rows, row)
	return row, err
}

// timedPart grades one check with made-up times.
func timedPart(t *testing.T, dir, check string, s func(root string, task *rubric.Task) Subject, m *madeUp) *verdict.Part {
	t.Helper()
	root := inSimulator(t)
	task, err := rubric.Load(root, dir)
	require.NoError(t, err)
	v, err := Task(context.Background(), Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s(root, task), Devices: Devices{Kind: device.Sim, Root: root},
		Seed: 42, Only: check, Output: t.TempDir(), timer: m})
	require.NoError(t, err)
	require.Empty(t, v.Refused)
	p := v.Checks[0].Part("speed")
	require.NotNil(t, p)
	return p
}

func TestSpeedIsScored(t *testing.T) {
	t.Parallel()
	m := &madeUp{ratio: 40}
	p := timedPart(t, "task5_decode", "split", Solution, m)
	assert.InDelta(t, p.Max, p.Score, 1e-9)
	assert.Contains(t, p.Note, "40.00 × the speed of unfused, cuBLAS")
	assert.Contains(t, p.Note, "split of batch 1, heads 32", "the largest workload that fits")
	require.Len(t, m.rows, 1)
	assert.Less(t, m.rows[0].Entries[0].Error, 1.0, "its outputs were checked")
	assert.Positive(t, m.rows[0].Entries[0].Error)
}

func TestTask6IsTimedWithTheKernelsOfTasks4And5(t *testing.T) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("make test-all runs it: a model and its baseline; what was handed in is timed below")
	}
	t.Parallel()
	m := &madeUp{ratio: 40}
	p := timedPart(t, "task6_e2e", "model", Solution, m)
	assert.InDelta(t, p.Max, p.Score, 1e-9)
	assert.Contains(t, p.Note, "the model on the course's plain kernels")
	require.Len(t, m.rows, 1)
	assert.Empty(t, m.rows[0].Entries[0].Wrong)
	assert.Positive(t, m.rows[0].Entries[0].Error, "its outputs were compared with the course's own model")
}

func TestSpeedIsNotJudgedInNoise(t *testing.T) {
	t.Parallel()
	p := timedPart(t, "task5_decode", "split", Solution, &madeUp{ratio: 40, noisy: "the rate of a copy spreads"})
	assert.Equal(t, "not measured: too noisy: the rate of a copy spreads", p.NotMeasured)
	assert.False(t, p.NeedsGPU)
}

func TestHeldTimesAreNotScored(t *testing.T) {
	t.Parallel()
	p := timedPart(t, "task5_decode", "split", Solution, &madeUp{ratio: 40, held: "impossible time"})
	assert.Equal(t, verdict.Awaiting, p.NotMeasured)
	assert.Equal(t, "impossible time", p.Doubt)
}

// older stands for a GPU that lacks what the kernels take.
type older struct{ *supervise.Simulator }

func (older) Lacks() string { return "needs sm_90, and this GPU is sm_80" }

func TestAnOlderGPULeavesItToTheSimulator(t *testing.T) {
	t.Parallel()
	root := inSimulator(t)
	task, err := rubric.Load(root, "task2_unfused")
	require.NoError(t, err)
	d := Devices{Kind: device.CUDA, GPU: "NVIDIA A100", Root: root}
	passes := slices.Repeat(Devices{Kind: device.Sim, Root: root}.passes(), 2)
	open := passes[0].open
	passes[0].kind = device.CUDA
	passes[0].open = func(t *rubric.Task, files []gate.File) (supervise.Backend, error) {
		b, err := open(t, files)
		if err != nil {
			return nil, err
		}
		return older{b.(*supervise.Simulator)}, nil
	}
	v, err := Task(context.Background(), Options{Root: root, Task: task, Ops: rooms.Ops, Subject: Solution(root, task), Devices: d,
		Seed: 42, Only: "softmax", Output: t.TempDir(), timer: &madeUp{ratio: 40}, passes: passes})
	require.NoError(t, err)
	assert.Equal(t, "the simulator: the code needs sm_90, and this GPU is sm_80", v.Device)
	for _, p := range v.Checks[0].Parts {
		if p.Name == "speed" {
			assert.Equal(t, "not measured: needs sm_90, and this GPU is sm_80", p.NotMeasured)
		} else {
			assert.InDelta(t, p.Max, p.Score, 1e-9, p.Name)
		}
	}
}

func TestAStubHasNoSpeed(t *testing.T) {
	t.Parallel()
	stub := func(root string, task *rubric.Task) Subject { return Submission(root, task, "") }
	p := timedPart(t, "task5_decode", "split", stub, &madeUp{ratio: 40})
	assert.Zero(t, p.Score)
	assert.Equal(t, "not timed: no case is right", p.Note)
}

func TestTheLadderGoesByFreeMemory(t *testing.T) {
	root := inSimulator(t)
	task, err := rubric.Load(root, "task4_flash")
	require.NoError(t, err)
	o := Options{Task: task, Ops: rooms.Ops}
	for free, batch := range map[int64]int{80 << 30: 64, 24 << 30: 16, 12 << 30: 4, 2 << 30: 1} {
		w, err := o.fitting(task.Checks[0].ID, task.Checks[0].Op, task.Checks[0].Ladder, free)
		require.NoError(t, err)
		assert.Equal(t, batch, w.Shape[0], "%d GB free", free>>30)
	}
	_, err = o.fitting(task.Checks[0].ID, task.Checks[0].Op, task.Checks[0].Ladder, 64<<20)
	assert.ErrorContains(t, err, "64 MB free, too little")
	six, err := rubric.Load(root, "task6_e2e")
	require.NoError(t, err)
	o.Task = six
	for _, c := range six.Checks {
		if c.ID == "model" {
			w, err := o.fitting(c.ID, c.Op, c.Ladder, 140<<30)
			require.NoError(t, err)
			assert.Equal(t, 24, w.Shape[3])
			w, err = o.fitting(c.ID, c.Op, c.Ladder, 80<<30)
			require.NoError(t, err)
			assert.Equal(t, 8, w.Shape[3])
		}
	}
}

func TestTask6IsTimedWithWhatWasHandedIn(t *testing.T) {
	t.Parallel()
	handedIn := func(root string, task *rubric.Task) Subject {
		dir := t.TempDir()
		for _, name := range []string{"task1_reference", "task4_flash", "task5_decode", "task6_e2e"} {
			require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(root, name, "solution"))))
		}
		broken := filepath.Join(dir, "task5_decode", "decode.go")
		text, err := os.ReadFile(broken)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(broken, append(text, "\nfunc broken() int { return 1.5 }\n"...), 0o644))
		return HandedIn(task, dir)
	}
	p := timedPart(t, "task6_e2e", "model", handedIn, &madeUp{ratio: 40})
	assert.Zero(t, p.Score)
	assert.Empty(t, p.NotMeasured)
	assert.Contains(t, p.Note, "not timed: it runs on your kernels of other tasks, too")
}

// inSimulator is the course's folder, on a machine that has the simulator.
func inSimulator(t *testing.T) string {
	t.Helper()
	s, err := sim.Start(sim.Options{})
	if errors.Is(err, sim.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NoError(t, s.Close())
	root, err := repo.Root()
	require.NoError(t, err)
	return root
}

// TestAYardstickOfOnesOwnThatIsWrongCostsItsPoints: points for speed are not left out because the kernel of task 4 that they
// are held against refuses this workload. One that is still a stub is another matter.
func TestAYardstickOfOnesOwnThatIsWrongCostsItsPoints(t *testing.T) {
	t.Parallel()
	returning := func(what string) func(root string, task *rubric.Task) Subject {
		return func(root string, task *rubric.Task) Subject {
			s := Solution(root, task)
			s.Edit = func(_ *rubric.Task, files []gate.File) ([]gate.File, error) {
				for i, f := range files {
					if f.Task+"/"+f.Name == "task4_flash/attention.go" {
						text := strings.Replace(string(f.Data), "	switch {\n	case s.KVHeads", "	switch {\n	case s.SeqQ > 1:\n		return "+what+"\n	case s.KVHeads", 1)
						assert.NotEqual(t, string(f.Data), text)
						files[i].Data = []byte(text)
					}
				}
				return files, nil
			}
			return s
		}
	}
	p := timedPart(t, "bonus/b1_rope", "halves", returning(`fmt.Errorf("not this one")`), &madeUp{ratio: 40})
	assert.Zero(t, p.Score)
	assert.Empty(t, p.NotMeasured)
	assert.Contains(t, p.Note, "your kernel of another task, which it is compared with, is wrong on this workload: not this one")
	p = timedPart(t, "bonus/b1_rope", "halves", returning("attn.ErrNotImplemented"), &madeUp{ratio: 40})
	assert.Contains(t, p.NotMeasured, "the baseline is wrong here: not implemented")
}
