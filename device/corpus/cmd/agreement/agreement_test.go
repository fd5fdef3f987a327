package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/corpus"
)

// Logs as compute-sanitizer writes them, shortened.
const (
	raceLog = `========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at read_too_early(const float *, float *)+0x120 in races.cu:11
=========     and Read access at read_too_early(const float *, float *)+0x190 in /tmp/flashlab-nvcc-1/races.cu:12 [252 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
exit 0
`
	writeLog = `========= COMPUTE-SANITIZER
stopped: kernel no_guard stopped: it read or wrote an address that belongs to no buffer
========= Invalid __global__ write of size 4 bytes
=========     at no_guard(const float *, float *, int)+0x90 in memory.cu:7
=========     by thread (44,0,0) in block (4,0,0)
=========     Access to 0x7f0000000010 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f0000000000 of size 1,200 bytes
=========
========= Invalid __global__ write of size 4 bytes
=========     at no_guard(const float *, float *, int)+0x90 in memory.cu:7
=========     by thread (45,0,0) in block (4,0,0)
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuCtxSynchronize.
=========
========= ERROR SUMMARY: 3 errors
exit 0
`
	quietLog = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\nexit 0\n"
)

func TestLogsAreRead(t *testing.T) {
	v := parse(raceLog, "racecheck")
	assert.Equal(t, "ran", v.state)
	require.Len(t, v.complaints, 1)
	assert.Equal(t, []int{11, 12}, v.complaints[0].lines)
	assert.Equal(t, "racecheck: Race reported (line 11, 12)", words(v.complaints))

	v = parse(writeLog, "memcheck")
	require.Len(t, v.complaints, 3)
	assert.Equal(t, "memcheck: Invalid __global__ write of size 4 bytes (line 7)", words(v.complaints))
	assert.Contains(t, words(v.complaints[2:]), "memcheck: Program hit CUDA_ERROR_LAUNCH_FAILED")

	v = parse(quietLog, "synccheck")
	assert.Empty(t, v.complaints)
	assert.Equal(t, "stopped by the time limit", parse("exit 124\n", "memcheck").state)
	assert.Equal(t, "did not run", parse("runbug: no such device\nexit 1\n", "memcheck").state)
	assert.Equal(t, "did not run", parse("cut off", "memcheck").state)
}

func TestJudgement(t *testing.T) {
	b := corpus.Bug{Name: "b", Line: 12, Kind: "race", Blind: "it is blind"}
	ran := map[string]int{"ran": 4}
	race := parse(raceLog, "racecheck").complaints
	assert.Equal(t, "yes", judge(b, true, "race", race, ran).agree)
	b.Line = 40
	assert.Equal(t, "yes, but for the line", judge(b, true, "race", race, ran).agree)
	assert.Equal(t, "sanitizer only", judge(b, false, "nothing", race, ran).agree)
	r := judge(b, true, "race", nil, ran)
	assert.Equal(t, "simulator only", r.agree)
	assert.Equal(t, "it is blind", r.remark)
	assert.Equal(t, notRun, judge(b, true, "race", nil, map[string]int{"no log": 4}).agree)
	r = judge(b, true, "race", nil, map[string]int{"stopped by the time limit": 1})
	assert.Equal(t, "it is blind; stopped by the time limit", r.remark)
}

func TestPlanNamesEveryBugAndTwin(t *testing.T) {
	bugs, err := corpus.Bugs()
	require.NoError(t, err)
	var b bytes.Buffer
	plan(&b, bugs)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, bug := range bugs {
		assert.Contains(t, lines, fmt.Sprintf("%s %s %d %s", bug.Twin(), bug.Tool(), limit(bug), bug.File))
		seconds := limit(bug)
		if bug.Endless() {
			seconds = endlessLimit
		}
		assert.Contains(t, lines, fmt.Sprintf("%s %s %d %s", bug.Name, bug.Tool(), seconds, bug.File))
		alone := fmt.Sprintf("%s result %d %s", bug.Name, seconds, bug.File)
		assert.Equal(t, bug.Class != "" && !bug.Apart, slices.Contains(lines, alone), alone)
	}
}

func TestTable(t *testing.T) {
	dir := t.TempDir()
	bug, err := corpus.FindBug("no_guard")
	require.NoError(t, err)
	planted := fmt.Sprintf("memory.cu:%d", bug.Line)
	for _, tool := range tools {
		log := quietLog
		if tool == "memcheck" {
			log = strings.ReplaceAll(writeLog, "memory.cu:7", planted)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "no_guard."+tool+".log"), []byte(log), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "no_guard_ok.memcheck.log"), []byte(quietLog), 0o644))
	var b bytes.Buffer
	require.NoError(t, table(&b, []corpus.Bug{bug}, dir))
	assert.Contains(t, b.String(), fmt.Sprintf("| no_guard | %s | out of bounds | out of bounds, line %d | "+
		"memcheck: Invalid __global__ write of size 4 bytes (line %d) | yes |  |", planted, bug.Line, bug.Line))
	assert.Contains(t, b.String(), "that did not run: 0")
}
