package rooms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
)

// TestEveryOutputOfATimedRunIsLookedAt: whatever a timed run writes, a piece of the first output or what is looked at with
// it reaches each number of each output. What nobody looks at need not be computed.
func TestEveryOutputOfATimedRunIsLookedAt(t *testing.T) {
	walked, further := 0, 0
	for _, op := range Ops {
		if op.Timed == nil || op.Timed.Small == nil {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			c, err := op.TimedCase(op.TimedSpec(op.Timed.Small, false))
			if err != nil { // a window wants a mask
				c, err = op.TimedCase(op.TimedSpec(op.Timed.Small, true))
			}
			require.NoError(t, err)
			walked++
			if op.Timed.Rest == nil {
				assert.Len(t, c.Outputs, 1, "nobody looks at those behind the first: give Timed a Rest")
				return
			}
			seen := make([][]bool, len(c.Outputs))
			for i, out := range c.Outputs {
				seen[i] = make([]bool, out.Elements())
			}
			size := op.Timed.Piece(c)
			for from := 0; from < len(seen[0]); from += size {
				spans, _ := op.Timed.Rest(c, from)
				for i := range size {
					seen[0][from+i] = true
				}
				for _, s := range spans {
					require.NotZero(t, s.Output, "the first output has its pieces")
					for i := range s.Size {
						seen[s.Output][s.From+i] = true
					}
				}
			}
			for i, all := range seen {
				further += min(i, 1)
				assert.NotContains(t, all, false, fmt.Sprintf("%s has numbers that no piece reaches", c.Outputs[i].Name))
			}
		})
	}
	assert.GreaterOrEqual(t, walked, 20)
	assert.GreaterOrEqual(t, further, 15)
	t.Logf("%d timed operations, %d outputs behind the first", walked, further)
}

// TestAKernelIsTheYardstickWhereItIsTimed: where a submission's speed is held against a kernel of its own, that kernel is
// timed on the same shapes in its own task. Whoever slows it there loses more than is to be gained.
func TestAKernelIsTheYardstickWhereItIsTimed(t *testing.T) {
	tasks, err := rubric.LoadAll("../../..")
	require.NoError(t, err)
	ladders := map[string][]string{} // by operation
	of := func(op string, ladder []rubric.Rung) (all string) {
		found, err := Ops.Find(op)
		require.NoError(t, err)
		for _, r := range ladder {
			all += fmt.Sprintln(r.Shape[:len(found.Sizes)], r.Causal)
		}
		return all
	}
	for _, task := range tasks {
		for _, c := range task.Checks {
			if len(c.Ladder) > 0 && c.Worker == "" {
				ladders[c.Op] = append(ladders[c.Op], of(c.Ladder[0].OpOf(c), c.Ladder))
			}
		}
	}
	held := 0
	for _, task := range tasks {
		for _, c := range task.Checks {
			op, err := Ops.Find(c.Op)
			require.NoError(t, err)
			if op.Timed == nil || op.Timed.OwnKernel == "" || len(c.Ladder) == 0 {
				continue
			}
			held++
			assert.Contains(t, ladders[op.Timed.OwnKernel], of(op.Timed.OwnKernel, c.Ladder), "%s, %s", task.Dir, c.ID)
		}
	}
	assert.GreaterOrEqual(t, held, 2)
}
