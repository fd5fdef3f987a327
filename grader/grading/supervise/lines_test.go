package supervise

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device/trace"
)

func TestNewLines(t *testing.T) {
	read := func(line int, n uint64) trace.LineCounts {
		return trace.LineCounts{File: "a.cu", Line: line, Op: "read", Requests: n, Bytes: 128 * n, Sectors: 4 * n, Passes: 0}
	}
	now := []trace.LineCounts{read(7, 5), read(3, 2), read(7, 1), read(9, 4)}
	assert.Equal(t, []trace.LineCounts{read(7, 6), read(3, 2), read(9, 4)}, newLines(nil, now), "the instructions of a line are one")
	assert.Equal(t, []trace.LineCounts{read(7, 2), read(9, 1)}, newLines([]trace.LineCounts{read(7, 4), read(3, 2), read(9, 3)}, now))
	assert.Empty(t, newLines(now, now))
}
