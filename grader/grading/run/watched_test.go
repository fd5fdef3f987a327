package run

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
)

// What became of a workload's only run is in its second answer; a worker that was not ready gives none.
func TestRepliesOfATimedCase(t *testing.T) {
	failed := &wire.Error{Class: wire.Failed, Text: "no kernel"}
	for name, k := range map[string]struct {
		says []any
		want *wire.Error
		ends bool
	}{
		"ran":       {says: []any{wire.Ready{}, wire.Took{Device: 7}}},
		"failed":    {says: []any{wire.Ready{}, wire.Took{Error: failed}}, want: failed},
		"not ready": {says: []any{wire.Ready{Error: failed}}, want: failed},
		"died":      {says: []any{wire.Ready{}}, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			for _, s := range k.says {
				require.NoError(t, frame.Write(&file, s, nil))
			}
			reply, err := readReply(&file, problem.Problem{Timed: true})
			if k.ends {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, k.want, reply.Error)
		})
	}
}
