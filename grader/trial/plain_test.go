package trial

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/internal/repo"
)

// TestTroublesInPlainGo: the tasks without a device need no simulator, and what
// goes wrong in them costs its own case.
func TestTroublesInPlainGo(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		task, only    string
		find, replace string
		want          string
	}{
		"out of range":    {"task1_reference", "split/2x17x3x5", "	y := tensor.New(batch, heads, seq, dim)\n", "	y := tensor.New(batch, heads, seq, dim-1)\n", "task1_reference/attention.go:"},
		"wrong shape":     {"task1_reference", "merge/2x3x17x5", "y := tensor.New(batch, seq, hidden)", "y := tensor.New(batch, seq, heads, dim)", "returned a tensor of shape [2, 17, 3, 5], want [2, 17, 15]"},
		"in a goroutine":  {"task1_reference", "sum/2x3x17x17x5", "all.Go(func() { f(n) })", "all.Go(func() { f(n + 1) })", "the program crashed: panic"},
		"own memory":      {"task3_tiled_go", "forward/17x17x5", "	t := allocate(sram, br, bc, dim)\n", "	t := allocate(hbm.New(1<<20).SRAM(), br, bc, dim)\n", "nothing was written"},
		"input written":   {"task3_tiled_go", "forward/17x17x5", "		b.o.Store(o, first)\n", "		b.o.Store(q, first)\n", "q [17, 5] is an input, and can only be read"},
		"error forgotten": {"task3_tiled_go", "forward/17x113x16", "	return sram.Err()\n", "	sram.Tile(\"more\", 1000, 1000)\n	return nil\n", "let it end with return sram.Err()"},
		"no tiles":        {"task3_tiled_go", "tiles/one-1x300x64", "return br, min(bc, seqK), nil", "return br, 0 * bc, nil", "want at least 1 of each"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task, err := rubric.Load(root, c.task)
			require.NoError(t, err)
			v := gradeOn(t, root, task, edited(root, task, Edit{File: "attention.go", Find: c.find, Replace: c.replace}), c.only)
			assert.False(t, v.Full())
			assert.Contains(t, feedback(v), c.want)
		})
	}
}
