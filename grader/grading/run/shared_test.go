package run

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

func TestWorkIsSharedAmongBlocks(t *testing.T) {
	seen := func(all ...trace.Counts) supervise.Observed { return supervise.Observed{Counts: all} }
	for _, c := range []struct {
		blocks, bytes uint64
		seen          supervise.Observed
		says          string
	}{
		{8, 100, seen(trace.Counts{Blocks: 8, MostRead: 90}, trace.Counts{Blocks: 1, MostRead: 10}), ""},
		{8, 0, seen(trace.Counts{Blocks: 9, MostRead: 1000}), ""},
		{8, 100, seen(trace.Counts{Blocks: 1, MostRead: 90}), "the largest launch has 1 block"},
		{8, 100, seen(trace.Counts{Blocks: 4}, trace.Counts{Blocks: 4}), "the largest launch has 4 blocks"},
		{8, 100, seen(trace.Counts{Blocks: 8, MostRead: 101}), "one block reads 101 bytes"},
		{8, 100, seen(trace.Counts{Blocks: 8, MostRead: 60}, trace.Counts{Blocks: 1, MostRead: 60}), "one block reads 120 bytes"},
	} {
		v := verdict.Outcome{Passed: true}
		unshared(&v, c.blocks, c.bytes, c.seen)
		assert.Equal(t, c.says == "", v.Passed, "%+v", c)
		assert.Contains(t, v.Reason, c.says)
	}
}
