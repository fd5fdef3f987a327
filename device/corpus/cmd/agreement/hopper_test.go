package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/corpus"
)

// The page's headings, bugs, twins, findings and lines are those of today. What a GPU's
// tools say stands behind them, and stays as it was measured.
func TestThePageOfHoppersBugsIsOfToday(t *testing.T) {
	bugs, err := corpus.Bugs()
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join("..", "..", "HOPPER.md"))
	require.NoError(t, err)
	there := rows(string(page))
	var today strings.Builder
	require.NoError(t, hopper(&today, bugs, ""))
	assert.Equal(t, rows(today.String()), there, "out/bin/agreement -hopper prints the tables of HOPPER.md anew")
	assert.NotContains(t, today.String(), "| nothing |", "the simulator finds each of them")
}

// rows are a page's headings and tables, without the columns that a GPU fills.
func rows(page string) []string {
	var all []string
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "## "):
			all = append(all, strings.TrimSpace(line))
		case strings.HasPrefix(line, "| "):
			all = append(all, strings.Join(strings.Split(line, "|")[:5], "|"))
		}
	}
	return all
}

func TestWhatAGPUSaysOfHoppersBugs(t *testing.T) {
	bug, err := corpus.FindBug("reads_early")
	require.NoError(t, err)
	apart, err := corpus.FindBug("sends_past_the_end")
	require.NoError(t, err)
	dir := t.TempDir()
	for name, log := range map[string]string{
		"reads_early.memcheck": quietLog, "reads_early.racecheck": raceLog, "reads_early.initcheck": "exit 124\n",
		"reads_early.result": "result: wrong in 3 of 20 runs\nexit 0\n", "never_waited_for.result": "exit 124\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".log"), []byte(log), 0o644))
	}
	var b bytes.Buffer
	require.NoError(t, hopper(&b, []corpus.Bug{bug, apart}, dir))
	assert.Contains(t, b.String(), "| nothing | Race reported (line 11, 12) | stopped by the time limit | not measured | wrong in 3 of 20 runs |")
	assert.Contains(t, b.String(), "| not measured | not measured | not measured | not measured | not comparable |")
	unwaited, err := corpus.FindBug("never_waited_for")
	require.NoError(t, err)
	verdict, err := resultOf(dir, unwaited)
	require.NoError(t, err)
	assert.Equal(t, "stopped by the time limit", verdict)
}
