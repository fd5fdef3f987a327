package rooms

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/replay"
	"flashlab/grader/grading/wire"
	"flashlab/hbm"
	"flashlab/internal/jail"
	"flashlab/tensor"
)

// recorded is a case of task 3, and the record of an algorithm that copies q to o.
func recorded(t *testing.T) (c problem.Problem, in []*tensor.Tensor, a *problem.Answer) {
	t.Helper()
	op, err := Ops.Find("tiled")
	require.NoError(t, err)
	c, err = op.Case(judge.Spec{Shape: []int{2, 2, 3, 1, 1}, Dist: tensor.Normal}, 7, 1)
	require.NoError(t, err)
	in, err = op.Inputs(c)
	require.NoError(t, err)
	m := hbm.New(4096)
	m.StartLog()
	q, err := m.Input("q", 2, 3, make([]float32, 6))
	require.NoError(t, err)
	for _, name := range []string{"k", "v"} {
		_, err := m.Input(name, 2, 3, make([]float32, 6))
		require.NoError(t, err)
	}
	o, err := m.Output("o", 2, 3, 0)
	require.NoError(t, err)
	for row := range 2 {
		tile := m.SRAM().Tile("row", 1, 3)
		tile.Load(q, row)
		tile.Store(o, row)
	}
	require.NoError(t, m.SRAM().Err())
	return c, in, &problem.Answer{Record: m.Log(), Counts: map[string]uint64{problem.Moved: 0, "br": 1, "bc": 1}}
}

// TestARecordIsDoneInAProcessOfItsOwn: on the real inputs, with counts that the worker has no part in.
func TestARecordIsDoneInAProcessOfItsOwn(t *testing.T) {
	c, in, a := recorded(t)
	started := 0
	r := &replay.Runner{Dir: t.TempDir(), Limit: 10 * time.Second, Jail: func(ctx context.Context, p jail.Program) (*exec.Cmd, error) {
		started++
		assert.Equal(t, []string{p.Path}, p.Read)
		assert.Empty(t, p.Write)
		cmd := exec.CommandContext(ctx, p.Path)
		cmd.Env = p.Env
		return cmd, nil
	}}
	out, err := r.Run(t.Context(), c, in, a)
	require.NoError(t, err)
	assert.Equal(t, 1, started)
	assert.Equal(t, in[0].Data, out.Tensors[0].Data)
	assert.Equal(t, uint64(2*6*4), out.Counts[problem.Moved], "not what the worker says")
	assert.Equal(t, uint64(1), out.Counts["br"])

	r.Jail = nil
	out, err = r.Run(t.Context(), c, in, a)
	require.NoError(t, err)
	assert.Equal(t, in[0].Data, out.Tensors[0].Data)
}

func TestARecordThatCannotBeDoneIsTheSubmissions(t *testing.T) {
	c, in, a := recorded(t)
	r := &replay.Runner{Dir: t.TempDir(), Limit: 10 * time.Second}
	var theirs *wire.Error
	for name, record := range map[string][]byte{"cut off": a.Record[:len(a.Record)-3], "noise": []byte("score: 100 of 100")} {
		_, err := r.Run(t.Context(), c, in, &problem.Answer{Record: record})
		assert.ErrorAs(t, err, &theirs, name)
	}
	for name, script := range map[string]string{"no answer": "exit 0", "breaks off": "exit 3", "too slow": "sleep 60", "says what it likes": "yes"} {
		r := &replay.Runner{Dir: t.TempDir(), Limit: 500 * time.Millisecond, Jail: func(ctx context.Context, _ jail.Program) (*exec.Cmd, error) {
			return exec.CommandContext(ctx, "sh", "-c", script), nil
		}}
		_, err := r.Run(t.Context(), c, in, a)
		assert.ErrorAs(t, err, &theirs, name)
	}
	r.Jail = func(ctx context.Context, _ jail.Program) (*exec.Cmd, error) {
		return exec.CommandContext(ctx, "sh", "-c", "echo 'bwrap: no user namespaces' >&2; exit 1"), nil
	}
	_, err := r.Run(t.Context(), c, in, a)
	assert.ErrorAs(t, err, new(*jail.Error), "a sandbox that does not start is the grader's own failure")
}
