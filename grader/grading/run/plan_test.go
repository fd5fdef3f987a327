package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
	"flashlab/tensor"
)

func TestCasesForAGPUAreLeftOutWithoutOne(t *testing.T) {
	task := &rubric.Task{Name: "5", Checks: []rubric.Check{{ID: "a", Cases: []rubric.Case{{Name: "small"}, {Name: "large", GPU: true}}}}}
	count := func(kind device.Kind, only string) int {
		p, err := Options{Task: task, Devices: Devices{Kind: kind}, Only: only}.Plan()
		require.NoError(t, err)
		return p.cases()
	}
	assert.Equal(t, 1, count(device.Sim, ""))
	assert.Equal(t, 1, count(device.Sim, "a"))
	assert.Equal(t, 2, count(device.CUDA, ""))
	assert.Equal(t, 2, count(device.CUDA, "a"))
	assert.Equal(t, 1, count(device.CUDA, "a/large"))
	assert.Equal(t, 1, count(device.Sim, "sm"), "a part of a name")
	_, err := Options{Task: task, Devices: Devices{Kind: device.Sim}, Only: "a/large"}.Plan()
	assert.ErrorContains(t, err, "a/large needs a GPU")
	assert.Len(t, task.Checks[0].Cases, 2, "the rubric stays as it is")
}

func TestAPartOfANameRunsAllThatHaveIt(t *testing.T) {
	task := &rubric.Task{Name: "2", Checks: []rubric.Check{
		{ID: "gemm", Withheld: 1, WithheldWeight: 1, Cases: []rubric.Case{{Name: "1x1"}, {Name: "17x113"}}},
		{ID: "gemm-nn", After: []string{"gemm"}, Cases: []rubric.Case{{Name: "1x1"}, {Name: "17x113-gemm"}}},
		{ID: "softmax", Cases: []rubric.Case{{Name: "17x113", Hidden: true}}},
	}}
	names := func(only string) (all []string) {
		p, err := Options{Task: task, Only: only}.Plan()
		require.NoError(t, err)
		for _, c := range p.Checks {
			assert.Empty(t, c.After)
			for _, k := range c.Cases {
				all = append(all, c.ID+"/"+k.Name)
			}
		}
		return all
	}
	assert.Equal(t, []string{"gemm/1x1", "gemm/17x113"}, names("gemm"), "a check of that name comes first")
	assert.Equal(t, []string{"gemm/1x1", "gemm/17x113", "gemm-nn/1x1", "gemm-nn/17x113-gemm"}, names("emm"))
	assert.Equal(t, []string{"gemm/17x113", "gemm-nn/17x113-gemm", "softmax/17x113"}, names("17x"))
	assert.Equal(t, []string{"gemm/1x1"}, names("gemm/1x1"))
	p, err := Options{Task: task, Only: "m/1x"}.Plan()
	require.NoError(t, err)
	assert.Zero(t, p.Checks[0].Withheld, "hidden cases belong to a whole check")
	_, err = Options{Task: task, Only: "max/9"}.Plan()
	assert.EqualError(t, err, `there is no case "max/9", nor one with this in its name. CASE is a check, or a case of one, as gemm/1x1
  gemm     1x1 17x113
  gemm-nn  1x1 17x113-gemm
  softmax`)
	several := func(only string) string { return Options{Task: task, Only: only}.Several() }
	assert.Equal(t, "CASE=17x is in the names of 2 cases: gemm/17x113, gemm-nn/17x113-gemm", several("17x"))
	for _, one := range []string{"", "gemm", "gemm/1x1", "m/1x", "max/9"} {
		assert.Empty(t, several(one), one)
	}
}

func TestThePageIsOfTheFirstCaseThatRunsAKernel(t *testing.T) {
	task := &rubric.Task{Name: "2", Checks: []rubric.Check{
		{ID: "softmax", Cases: []rubric.Case{{Name: "0x0", Refused: true}, {Name: "17x113"}, {Name: "17x113-large"}}},
		{ID: "gemm", Cases: []rubric.Case{{Name: "17x1", GPU: true}, {Name: "17x2"}, {Name: "3x3", Hidden: true}}},
	}}
	for only, want := range map[string]string{"softmax": "17x113", "17x": "17x113", "large": "17x113-large", "gemm": "17x2"} {
		_, one, err := Options{Task: task, Only: only}.firstCase()
		require.NoError(t, err, only)
		assert.Equal(t, want, one.Name, only)
	}
	for only, want := range map[string]string{
		"":      "say which case: CASE=softmax, or a part of a name, as softmax/0x0\n  softmax  0x0 17x113 17x113-large\n  gemm     17x1 17x2",
		"nope":  `no case "nope"`,
		"0x0":   "the right answer is an error",
		"/17x1": "", // a part of several: the first
	} {
		_, _, err := Options{Task: task, Only: only}.firstCase()
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
	_, err := Show(t.Context(), Options{Task: &rubric.Task{Name: "3", Device: "none"}})
	assert.ErrorContains(t, err, "task 3 has neither kernels nor tiles")
}

// Each case of the course has a seed of its own, from which nobody can tell the grading's.
func TestEachCaseHasItsOwnSeed(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	const grading = 42
	seen := map[uint64]string{grading: "the grading"}
	op := judge.Op{Name: "any", Sizes: []string{"len"}, Tensors: func(problem.Problem) (in, out []problem.Tensor) {
		return []problem.Tensor{{Name: "x", Shape: []int{1}}, {Name: "y", Shape: []int{1}}}, nil
	}}
	for _, task := range tasks {
		o := Options{Task: task, Seed: grading}
		for _, c := range task.Checks {
			for _, k := range c.Cases {
				k = rubric.Case{Name: k.Name, Shape: []int{1}, Dist: tensor.Normal}
				p, err := o.WireCase(op, c, k, 1)
				require.NoError(t, err)
				name := task.Dir + "/" + c.ID + "/" + k.Name
				assert.NotEqual(t, p.Inputs[0].Stream, p.Inputs[1].Stream)
				assert.Empty(t, seen[p.Seed], "has the seed of %s", name)
				seen[p.Seed] = name
				again, err := o.WireCase(op, c, k, 7)
				require.NoError(t, err)
				assert.Equal(t, p.Seed, again.Seed, "it repeats")
			}
		}
	}
	assert.Greater(t, len(seen), 200)
}
