package trial

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// slip is a mistake in a variant's solution: on which case, what it costs, and what is said of it.
type slip struct {
	only, lose, says string
	edits            []Edit
}

func in(file, find, replace string) Edit { return Edit{file, find, replace} }

// varied are the variants' tasks: what is said of last year's solution, and mistakes.
var varied = map[string]struct {
	lastYear string
	slips    map[string]slip
}{
	"window/task4_flash": {"the window is ignored: keys before it are seen", map[string]slip{
		"every_tile": {"causal/1x1x512x2048x32-32", "causal traffic", "7.52 × the least bytes", []Edit{
			in("kernels.cu", "key0 = first;", "key0 = 0;"),
			in("kernels.cu", "k, first, seqK", "k, 0, seqK")}},
		"one_more": {"causal/2x3x17x17x8-5", "causal correctness", "off by one: a query sees one key too many", []Edit{
			in("kernels.cu", "ago >= window;", "ago > window;")}},
		"one_less": {"causal/1x1x113x113x24-65", "causal correctness", "off by one: a query sees one key too few", []Edit{
			in("kernels.cu", "ago >= window;", "ago > window - 2;")}},
		"late_tile": {"causal/1x1x257x258x8-128", "causal correctness", "too many tiles are left out", []Edit{
			in("kernels.cu", "block0 + lead - window + 1)", "block0 + BR + lead - window)")}},
		"tile_one_late": {"causal/1x1x257x256x8-129", "causal correctness", "only the query rows from 256 on are wrong", []Edit{
			in("kernels.cu", "lead - window + 1)", "lead - window + 2)")}},
		"warp_one_late": {"causal/1x1x257x256x8-129", "causal correctness", "too many tiles are left out", []Edit{
			in("kernels.cu", "key0 + BC > own - window + 1;", "key0 + BC > own - window + 2;")}},
		"edge_one_early": {"causal/1x1x257x258x8-128", "causal correctness", "wrong", []Edit{
			in("kernels.cu", "TALL * 16 - window;", "TALL * 16 - window - 1;")}},
		"bare_edge": {"causal/1x1x257x258x8-128", "causal correctness", "nothing is masked in the first tile", []Edit{
			in("kernels.cu", " || ago >= window;", ";")}},
		"one_edge": {"causal/1x1x257x258x8-128", "causal correctness", "nothing is masked in the first tile", []Edit{
			in("kernels.cu", " || key0 < own + TALL * 16 - window;", ";")}},
		"late_edge": {"causal/1x1x65x127x8-100", "causal correctness", "wrong", []Edit{
			in("kernels.cu", "min(keys, own + 1)", "min(keys, own + 2)")}},
		"from_the_query": {"causal/1x2x129x257x32-40-large", "causal correctness", "counts from the query's number and not from its key", []Edit{
			in("attention.go", "window := s.Window\n", "window := s.Window + s.SeqK - s.SeqQ\n")}},
	}},
	"window/task5_decode": {"the window is ignored: slots before it are read", map[string]slip{
		"every_slot": {"decode/2x4x4x400x32-30", "decode traffic", "× the least bytes", []Edit{
			in("kernels.cu", "max(length - window, 0);", "0;"),
			in("kernels.cu", "if (tile + j * GROUPS + group >= end) score[j]", "if (tile + j * GROUPS + group >= end || tile + j * GROUPS + group < length - window) score[j]")}},
		"one_more": {"decode/2x3x3x17x8-5", "decode correctness", "off by one: a slot too many is read", []Edit{
			in("kernels.cu", "max(length - window, 0);", "max(length - window - 1, 0);")}},
		"one_less": {"decode/2x3x3x17x8-5", "decode correctness", "off by one: its first slot is missing", []Edit{
			in("kernels.cu", "max(length - window, 0);", "max(length - window + 1, 0);")}},
		"the_first_ones": {"decode/4x2x2x113x33-50", "decode correctness", "the window counts from the first slot", []Edit{
			in("kernels.cu", "length = min(lengths[sequence], slots);", "length = min(lengths[sequence], window);")}},
		"of_the_cache": {"decode/2x4x4x400x32-30", "decode correctness", "the window counts from the end of the cache", []Edit{
			in("kernels.cu", "max(length - window, 0);", "max(slots - window, 0);")}},
	}},
}

// everyVariant runs a test for each task that a variant changes.
func everyVariant(t *testing.T, f func(t *testing.T, root string, plain, task *rubric.Task)) {
	t.Parallel()
	root := ready(t)
	_, tasks := allTasks(t)
	names, err := rubric.Variants(root)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		all, err := rubric.LoadVariant(root, name)
		require.NoError(t, err)
		for _, task := range all {
			if task.Variant == "" {
				continue
			}
			plain := slices.IndexFunc(tasks, func(t *rubric.Task) bool { return t.Dir == task.Dir })
			t.Run(name+"/"+task.Dir, func(t *testing.T) {
				t.Parallel()
				f(t, root, tasks[plain], task)
			})
		}
	}
}

// changed is the task with only those checks that the variant changes.
func changed(plain, task *rubric.Task) *rubric.Task {
	var parts []string
	for i, c := range task.Checks {
		if i >= len(plain.Checks) || !reflect.DeepEqual(c, plain.Checks[i]) {
			parts = append(parts, c.ID+" ")
		}
	}
	return withChecks(task, parts)
}

func TestAVariantsSolutionGetsFullMarks(t *testing.T) {
	everyVariant(t, func(t *testing.T, root string, plain, task *rubric.Task) {
		few := changed(plain, task)
		require.NotEmpty(t, few.Checks)
		assert.Equal(t, plain.Points, task.Points)
		v := gradeOn(t, root, few, run.Solution(root, task), "")
		got, most := v.Points()
		assert.True(t, v.Full(), feedback(v))
		assert.InDelta(t, measurable(few), most, 1e-9)
		assert.InDelta(t, most, got, 1e-9)
	})
}

// Whatever windows a class draws, the solution has them right, and last year's some wrong.
func TestAVariantsDrawnCasesTellThemApart(t *testing.T) {
	if os.Getenv(allMutants) == "" {
		t.Skip(allMutants + " is not set")
	}
	everyVariant(t, func(t *testing.T, root string, plain, task *rubric.Task) {
		few := changed(plain, task)
		few.Draw("another class")
		v := gradeOn(t, root, few, run.Solution(root, task), "drawn")
		assert.True(t, v.Full(), feedback(v))
		v = gradeOn(t, root, few, run.Solution(root, plain), "drawn")
		assert.False(t, v.Full(), feedback(v))
	})
}

func TestLastYearsSolutionFailsAndIsToldWhy(t *testing.T) {
	everyVariant(t, func(t *testing.T, root string, plain, task *rubric.Task) {
		few := changed(plain, task)
		v := gradeOn(t, root, few, run.Solution(root, plain), "")
		require.Empty(t, v.Refused)
		text := feedback(v)
		for _, c := range v.Checks {
			p := c.Part("correctness")
			assert.Less(t, p.Score, p.Max/2, text)
			assert.Zero(t, c.Part("hidden").Score, text)
			assert.Zero(t, c.Part("traffic").Score, text)
		}
		assert.Contains(t, text, varied[t.Name()[len("TestLastYearsSolutionFailsAndIsToldWhy/"):]].lastYear)
	})
}

// stub is what students begin with in a year with a variant, in a folder of its own.
func stub(t *testing.T, root string, task *rubric.Task) string {
	dir := t.TempDir()
	for _, f := range task.Files {
		data, err := os.ReadFile(filepath.Join(root, rubric.VariantDir(task.Dir, task.Variant), f))
		if os.IsNotExist(err) {
			data, err = os.ReadFile(filepath.Join(root, task.Dir, f))
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), data, 0o644))
	}
	return dir
}

func TestAVariantsStubGetsNothing(t *testing.T) {
	everyVariant(t, func(t *testing.T, root string, plain, task *rubric.Task) {
		v := gradeOn(t, root, changed(plain, task), run.Submission(root, task, stub(t, root, task)), "")
		got, most := v.Points()
		assert.Zero(t, got)
		assert.Greater(t, most, 0.0, feedback(v))
		for _, c := range v.Checks {
			for _, k := range c.Cases {
				assert.Equal(t, "not_implemented", k.Class, k.Name)
			}
		}
	})
}

// withSlips is the variant's solution with these edits.
func withSlips(t *testing.T, root string, task *rubric.Task, edits []Edit) run.Subject {
	s := run.Solution(root, task)
	s.Edit = func(_ *rubric.Task, files []gate.File) ([]gate.File, error) {
		for _, e := range edits {
			i := slices.IndexFunc(files, func(f gate.File) bool { return f.Task == task.Dir && f.Name == e.File })
			require.Equal(t, 1, bytes.Count(files[i].Data, []byte(e.Find)), e.Find)
			files[i].Data = bytes.Replace(files[i].Data, []byte(e.Find), []byte(e.Replace), 1)
		}
		return files, nil
	}
	return s
}

// Task 4's solution takes tall tiles for more queries than any case has, and small ones where shared memory is short.
func TestAVariantIsRightInTilesThatNoCaseTakes(t *testing.T) {
	everyVariant(t, func(t *testing.T, root string, plain, task *rubric.Task) {
		if task.Dir != "task4_flash" || task.Variant != "window" {
			t.Skip("its solution has one size of tiles")
		}
		for _, tiles := range []string{"manyTiles", "smallTiles"} {
			t.Run(tiles, func(t *testing.T) {
				t.Parallel()
				v := gradeOn(t, root, changed(plain, task), withSlips(t, root, task, []Edit{in("attention.go", "few := DefaultTiles", "few := "+tiles)}), "")
				assert.True(t, v.Full(), feedback(v))
			})
		}
	})
}

func TestAVariantsMistakesAreNamed(t *testing.T) {
	if os.Getenv(allMutants) == "" {
		t.Skip(allMutants + " is not set")
	}
	everyVariant(t, func(t *testing.T, root string, _, task *rubric.Task) {
		slips := varied[t.Name()[len("TestAVariantsMistakesAreNamed/"):]].slips
		require.NotEmpty(t, slips)
		for name, m := range slips {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				v := gradeOn(t, root, task, withSlips(t, root, task, m.edits), m.only)
				p := part(t, v, m.lose)
				assert.Less(t, p.Score, p.Max-1e-9, feedback(v))
				if p.Name == "traffic" { // right, and none of the work that a window saves is saved
					assert.Zero(t, p.Score, feedback(v))
					assert.NotEmpty(t, v.Checks[0].Cases)
					assert.True(t, v.Checks[0].Cases[0].Passed, feedback(v))
				}
				assert.Contains(t, feedback(v), m.says)
			})
		}
	})
}
