package supervise

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

func TestStepsOfLinesAreThoseSinceTheEarlierReport(t *testing.T) {
	steps := func(line int, n, barriers uint64) trace.LineSteps {
		return trace.LineSteps{File: "a.cu", Line: line, Steps: n, Barriers: barriers}
	}
	now := []trace.LineSteps{steps(3, 2, 0), steps(7, 6, 1), steps(9, 4, 4)}
	assert.Equal(t, now, newSteps(nil, now))
	assert.Equal(t, []trace.LineSteps{steps(7, 2, 1), steps(9, 0, 3)}, newSteps([]trace.LineSteps{steps(3, 2, 0), steps(7, 4, 0), steps(9, 4, 1)}, now))
	assert.Empty(t, newSteps(now, now))
}

// Whatever adds up over launches is told since the earlier report: each number of Counts, those of tomorrow too.
func TestAllCountsAreThoseSinceTheEarlierReport(t *testing.T) {
	old, now := trace.Counts{Kernel: "k"}, trace.Counts{Kernel: "k"}
	numbers := 0
	for i := range reflect.TypeFor[trace.Counts]().NumField() {
		for c, n := range map[*trace.Counts]int{&old: 3, &now: 5} {
			switch f := reflect.ValueOf(c).Elem().Field(i); f.Kind() {
			case reflect.Int:
				f.SetInt(int64(n))
			case reflect.Uint64:
				f.SetUint(uint64(n))
			case reflect.Float64:
				f.SetFloat(float64(n))
			}
		}
	}
	fresh := newCounts([]trace.Counts{old}, []trace.Counts{now})
	require.Len(t, fresh, 1)
	for i := range reflect.TypeFor[trace.Counts]().NumField() {
		name, f := reflect.TypeFor[trace.Counts]().Field(i).Name, reflect.ValueOf(fresh[0]).Field(i)
		switch f.Kind() {
		case reflect.Int, reflect.Uint64, reflect.Float64:
			numbers++
			assert.Equal(t, "2", fmt.Sprint(f), name)
		}
	}
	assert.Greater(t, numbers, 25)
}
