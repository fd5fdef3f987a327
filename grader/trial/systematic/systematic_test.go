package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/repo"
)

// listed are the changes of a text, each with the line that comes of it.
func listed(t *testing.T, file, text string) (all []string) {
	t.Helper()
	these, err := changes(file, []byte(text))
	require.NoError(t, err)
	for _, c := range these {
		lines := strings.Split(string(c.apply([]byte(text))), "\n")
		all = append(all, c.Kind+": "+strings.TrimSpace(lines[c.Line-1]))
	}
	return all
}

func TestKernelsAreChangedPlaceByPlace(t *testing.T) {
	assert.Equal(t, []string{
		"loop start: for (int i = 1 + 0; i < n; i++)",
		"loop bound: for (int i = 0; i <= n; i++)",
		"loop bound: for (int i = 0; i < -1 + n; i++)",
	}, listed(t, "k.cu", "for (int i = 0; i < n; i++)\n    f(i);"))
	assert.Equal(t, []string{
		"index offset: y[1 + i - 1] = max(x[i], 0.0f); // y[i] < x[i]",
		"sign: y[i + 1] = max(x[i], 0.0f); // y[i] < x[i]",
		"min and max: y[i - 1] = min(x[i], 0.0f); // y[i] < x[i]",
		"index offset: y[i - 1] = max(x[1 + i], 0.0f); // y[i] < x[i]",
	}, listed(t, "k.cu", "y[i - 1] = max(x[i], 0.0f); // y[i] < x[i]"))
	assert.Equal(t, []string{"barrier: ;"}, listed(t, "k.cu", "__syncthreads();"))
	for _, nothing := range []string{"__shared__ float row[4], column[N + 0 * 2];", "template <int DIM> __device__ void f(float (&d)[2][4], const int *x);",
		"#include <cuda_fp16.h>", "static_assert(BR == 16, \"a < b\");", "x = -y;", "/* a < b */"} {
		for _, c := range listed(t, "k.cu", nothing) {
			assert.True(t, strings.HasPrefix(c, "sign: "), "%s: %s", nothing, c)
		}
	}
	assert.Equal(t, []string{"comparison: if (a != b) return c[d];", "index offset: if (a == b) return c[1 + d];"}, listed(t, "k.cu", "if (a == b) return c[d];"))
}

func TestGoIsChangedPlaceByPlace(t *testing.T) {
	head := "package p\n\nfunc f(x []int, n int) int {\n"
	assert.Equal(t, []string{
		"loop start: for i := 1+(0); i < n; i++ {",
		"loop bound: for i := 0; i <= n; i++ {",
		"loop bound: for i := 0; i < -1 + n; i++ {",
		"index offset: x[1+(i)] = min(n, i)",
		"min and max: x[i] = max(n, i)",
	}, listed(t, "a.go", head+"	for i := 0; i < n; i++ {\n		x[i] = min(n, i)\n	}\n	return 0\n}\n"))
	assert.Equal(t, []string{"loop bound: for range -1+(n) {", "loop bound: for range 1+(n) {"}, listed(t, "a.go", head+"	for range n {\n	}\n	return 0\n}\n"))
}

// Brackets hold an index, a type or a key: only the first can be one too large.
func TestTypeArgumentsAreNoPlaces(t *testing.T) {
	head := "package p\n\nimport \"a/device\"\n\ntype own[E any] struct{}\n\nfunc f[T any](x, y []int, s struct{ Dim int }, n int) {\n"
	for _, nothing := range []string{"device.Alloc[T](n)", "device.Alloc[int32](n)", "g[device.Float16](n)", "var b device.Buffer[own[T]]", "g[own[int]](n)",
		"g[[]int](n)", "g[map[string]int](n)", "g[*device.Half](n)", "g[T, int](n)", "m[\"DIM\"] = n"} {
		assert.Empty(t, listed(t, "a.go", head+nothing+"\n}\n"), nothing)
	}
	for index, by := range map[string]string{"n": "1+(n)", "s.Dim": "1+(s.Dim)", "x[n]": "1+(x[n])", "2": "1+(2)"} {
		assert.Contains(t, listed(t, "a.go", head+"y["+index+"] = 0\n}\n"), "index offset: y["+by+"] = 0", index)
	}
}

// Every change of every solution is another text; no two are one.
func TestChangesOfTheSolutions(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	for _, task := range all {
		these, err := of(root, task)
		require.NoError(t, err)
		for i, c := range these {
			require.NotEqual(t, c.Old, c.New)
			require.Equal(t, i, find(resultsOf(these), c), "%s", c)
		}
		if len(task.Files) > 0 {
			assert.Greater(t, len(these), 10, task.Dir)
		}
	}
}

func resultsOf(these []change) (all []result) {
	for _, c := range these {
		all = append(all, result{change: c})
	}
	return all
}

// What alive.toml explains is there to be changed: an explanation does not outlive its line.
func TestWhatIsExplainedIsThere(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	why, err := explained(root)
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	var there []change
	for _, task := range all {
		these, err := of(root, task)
		require.NoError(t, err)
		there = append(there, these...)
	}
	for _, a := range why {
		assert.NotEmpty(t, a.Why)
		assert.GreaterOrEqual(t, find(resultsOf(there), change{File: a.File, Text: a.Text, Old: a.Old, New: a.New, Nth: a.Nth}), 0, fmt.Sprintf("%+v", a))
	}
}

func TestWhatCameOfIt(t *testing.T) {
	right := verdict.Outcome{Name: "a", Passed: true}
	part := []verdict.Part{{Score: 1, Max: 1}}
	for want, v := range map[string]verdict.Verdict{
		unbuilt: {Refused: "it does not compile"},
		wrong:   {Checks: []verdict.Check{{ID: "x", Cases: []verdict.Outcome{right, {Name: "b"}}}}},
		unsafe:  {Checks: []verdict.Check{{ID: "x", Cases: []verdict.Outcome{right}, Findings: []verdict.Found{{Case: "a"}}}}},
		wasting: {Checks: []verdict.Check{{ID: "x", Cases: []verdict.Outcome{right}, Parts: []verdict.Part{{Score: 0.5, Max: 1}}}}},
		alive:   {Checks: []verdict.Check{{ID: "x", Cases: []verdict.Outcome{right}, Parts: part}}},
		asking:  {Checks: []verdict.Check{{ID: "x", Cases: []verdict.Outcome{right}, Parts: part}}, Held: []verdict.Held{{Check: "x"}}},
	} {
		got, _ := came(v, 1)
		assert.Equal(t, want, got)
	}
	// Where the solution itself has half of the points, half is enough; it must be right all the same.
	half := verdict.Check{ID: "x", Cases: []verdict.Outcome{right}, Parts: []verdict.Part{{Score: 0.5, Max: 1}}}
	got, _ := came(verdict.Verdict{Checks: []verdict.Check{half}}, 0.5)
	assert.Equal(t, alive, got)
	assert.False(t, flawed(half))
	assert.True(t, flawed(verdict.Check{Cases: []verdict.Outcome{{Name: "b"}}}))
	assert.True(t, flawed(verdict.Check{Findings: []verdict.Found{{Case: "a"}}}))
}

func TestWhatIsPicked(t *testing.T) {
	from, to, err := span("12")
	require.NoError(t, err)
	assert.Equal(t, []int{12, 12}, []int{from, to})
	from, to, err = span("12-40")
	require.NoError(t, err)
	assert.Equal(t, []int{12, 40}, []int{from, to})
	_, _, err = span("12-")
	assert.ErrorContains(t, err, "expected a number")
	all := []change{{Line: 1}, {Line: 2}, {Line: 3}, {Line: 4}, {Line: 5}}
	assert.Equal(t, []change{{Line: 1}, {Line: 3}, {Line: 5}}, sample(all, 2))
	assert.Equal(t, all, sample(all, 1))
}

// The edit that all mutants have: none is graded where its text is gone.
func TestEveryMutantHasTheEdit(t *testing.T) {
	files := func() []gate.File { return []gate.File{{Task: "t", Name: "a.go", Data: []byte("n = 9; i < n")}} }
	c := change{File: "t/a.go", Old: "<", New: "<=", from: 9, to: 10}
	w := work{old: "n = 9", new: "n = 0"}
	got, err := w.edit(c)(nil, files())
	require.NoError(t, err)
	assert.Equal(t, "n = 0; i <= n", string(got[0].Data))
	got, err = work{}.edit(c)(nil, files())
	require.NoError(t, err)
	assert.Equal(t, "n = 9; i <= n", string(got[0].Data))
	_, err = work{old: "m = 9"}.edit(c)(nil, files())
	assert.ErrorContains(t, err, "in no file")
}
