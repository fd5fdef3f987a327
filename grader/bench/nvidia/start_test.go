package nvidia

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// tool writes a script that stands in for one of CUDA's; its log is what follows
// --log-file.
func tool(t *testing.T, script string) (path, dir string, it *run.Watched) {
	dir = t.TempDir()
	path = filepath.Join(dir, "tool")
	head := "#!/bin/bash\nwhile [ $# -gt 0 ]; do case $1 in --log-file) log=$2 ;; --metrics) metrics=$2 ;; --export) report=$2 ;; --import) import=$2 ;; --kernel-name) only=$2 ;; esac; shift; done\n"
	require.NoError(t, os.WriteFile(path, []byte(head+script), 0o755))
	return path, dir, &run.Watched{Dir: dir, Command: []string{"worker"}, Env: os.Environ(), Names: []string{"softmax/17x113"},
		Files: map[string][]byte{"kernels.cu": []byte("one\ntwo\n")}}
}

func TestSanitizeUnderAStandIn(t *testing.T) {
	ctx := context.Background()
	path, dir, it := tool(t, `printf '========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n' >$log`)
	s, err := Sanitize(ctx, path, "memcheck", "", dir, it)
	require.NoError(t, err)
	assert.Empty(t, s.Found)

	path, dir, it = tool(t, `printf '========= COMPUTE-SANITIZER\n========= Invalid __global__ read of size 4 bytes\n=========     at k(int)+0x1 in kernels.cu:2\n' >$log; exit 9`)
	s, err = Sanitize(ctx, path, "memcheck", "", dir, it)
	require.NoError(t, err)
	assert.Len(t, s.Found, 1)

	path, dir, it = tool(t, "echo 'no such driver' >&2; exit 1")
	_, err = Sanitize(ctx, path, "memcheck", "", dir, it)
	assert.ErrorContains(t, err, "did not run (exit code 1): no such driver")
	assert.NotEmpty(t, Failures(it), "a case without an answer is not a good one")
}

func TestProfileLeavesOutWhatTheGPUDoesNotCount(t *testing.T) {
	path, dir, it := tool(t, `case $metrics in
*gmma*) echo '==ERROR== Failed to find metric smsp__warp_issue_stalled_gmma_per_warp_active.pct' >$log; exit 1 ;;
esac
[ -n "$import" ] || { echo "$only" >$report; exit; }
printf '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","k(int)","gpu__time_duration.sum","ns","1,234"\n'`)
	it.Kernels = []string{"flash", "combine"}
	launches, err := Count(context.Background(), path, dir, it)
	require.NoError(t, err)
	require.Len(t, launches, 1)
	assert.Equal(t, 1234.0, launches[0].Values["gpu__time_duration.sum"])
	report, err := os.ReadFile(filepath.Join(dir, Report))
	require.NoError(t, err)
	assert.Equal(t, "regex:^(flash|combine)$\n", string(report), "the report is kept, and only these kernels are counted")

	path, dir, it = tool(t, `[ -n "$import" ] && { echo 'no such version' >&2; exit 1; }; touch $report`)
	_, err = Count(context.Background(), path, dir, it)
	assert.ErrorContains(t, err, "cannot read its own report")
}

func TestCasesForTheTools(t *testing.T) {
	cases := []rubric.Case{{Name: "1", Shape: []int{1}}, {Name: "big", Shape: []int{1000, 1000}}, {Name: "17x113", Shape: []int{17, 113}}, {Name: "gpu", Shape: []int{64, 4096}, GPU: true}}
	var names []string
	for _, k := range Small(append([]rubric.Case{}, cases...)) {
		names = append(names, k.Name)
	}
	assert.Equal(t, []string{"17x113", "big"}, names)
	assert.Equal(t, "big", Largest(cases)[0].Name)
	assert.Len(t, Small([]rubric.Case{{Shape: []int{1}}}), 1)
}
