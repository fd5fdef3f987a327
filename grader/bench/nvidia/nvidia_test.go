package nvidia

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var files = map[string][]byte{"kernels.cu": []byte("line one\nline two\n    tile[i] = x[i];\nline four\n    sum += tile[0];\n")}

const memcheckLog = `========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at rows(const float *, float *, int)+0x1b0 in kernels.cu:3
=========     by thread (31,0,0) in block (2,0,0)
=========     Access at 0x7f4c02000190 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f4c02000000 of size 400 bytes
=========
========= Invalid __global__ read of size 4 bytes
=========     at rows(const float *, float *, int)+0x1b0 in kernels.cu:3
=========     by thread (30,0,0) in block (2,0,0)
=========     Access at 0x7f4c02000194 is out of bounds
=========
========= Invalid __shared__ write of size 16 bytes
=========     at 0x70 in /tmp/x/kernels.cu:5:other(float*)
=========     by thread (1,0,0) in block (0,0,0)
=========     Address 0x7fb6e0000003 is misaligned
=========
========= Program hit unspecified launch failure (error 719) on CUDA API call to cuCtxSynchronize.
=========
========= Target application returned an error
========= ERROR SUMMARY: 3 errors
`

func TestMemcheckInTheCoursesWords(t *testing.T) {
	found := Findings("memcheck", memcheckLog, files)
	require.Len(t, found, 2)
	assert.Equal(t, "kernels.cu:3: read of device memory out of bounds (4 bytes)", found[0].Headline())
	assert.Equal(t, 2, found[0].Count)
	assert.Equal(t, "rows", found[0].Kernel)
	assert.Equal(t, &[3]int{31, 0, 0}, found[0].Thread)
	text := found[0].String()
	assert.Contains(t, text, "tile[i] = x[i];")
	assert.Contains(t, text, "thread (31,0,0) of block (2,0,0)")
	assert.Contains(t, text, "1 bytes after the nearest allocation")
	assert.Contains(t, found[1].Headline(), "kernels.cu:5: write of shared memory at an address that is no multiple of its size (16 bytes)")
}

func TestOtherToolsInTheCoursesWords(t *testing.T) {
	race := Findings("racecheck", `========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at rows(const float *, float *, int)+0x80 in kernels.cu:3
=========     and Read access at rows(const float *, float *, int)+0x1a0 in kernels.cu:5 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
`, files)
	require.Len(t, race, 1)
	assert.Equal(t, "kernels.cu:5: race on shared memory", race[0].Headline())
	assert.Contains(t, race[0].String(), "write and read by different threads of a block, at kernels.cu:3 and kernels.cu:5")
	assert.Equal(t, "rows", race[0].Kernel)

	unread := Findings("initcheck", `========= Uninitialized __global__ memory read of size 4 bytes
=========     at rows(const float *, float *, int)+0x70 in kernels.cu:5
=========     by thread (65,0,0) in block (0,0,0)
`, files)
	require.Len(t, unread, 1)
	assert.Equal(t, "kernels.cu:5: read of device memory that nothing has written (4 bytes)", unread[0].Headline())

	barrier := Findings("synccheck", `========= Barrier error detected. Divergent thread(s) in block.
=========     at rows(const float *, float *, int)+0xd0 in kernels.cu:3
=========     by thread (32,0,0) in block (0,0,0)
========= ERROR SUMMARY: 1 error
`, files)
	require.Len(t, barrier, 1)
	assert.Contains(t, barrier[0].Headline(), "kernels.cu:3: barrier that not all threads reach: divergent thread(s) in block")

	assert.Empty(t, Findings("memcheck", "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", files))
	odd := Findings("memcheck", "========= Something new of size 4\n=========     at x(int)+0x1 in kernels.cu:1\n", files)
	require.Len(t, odd, 1, "what is not known is shown as it is")
	assert.Contains(t, odd[0].Headline(), "kernels.cu:1: something new of size 4")
}

func TestSanitizerArgs(t *testing.T) {
	assert.NotContains(t, SanitizerArgs("initcheck", "", "x"), "--initcheck-address-space")
	assert.Contains(t, SanitizerArgs("initcheck", "… --initcheck-address-space arg …", "x"), "--initcheck-address-space")
	assert.NotContains(t, SanitizerArgs("memcheck", "--initcheck-address-space", "x"), "--initcheck-address-space")
}

// csvOf writes launches as ncu does.
func csvOf(launches ...map[string]string) string {
	var b strings.Builder
	b.WriteString("==PROF== Connected to process 77 (worker)\n")
	b.WriteString(`"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n")
	for id, values := range launches {
		for name, value := range values {
			if name != "kernel" {
				b.WriteString(strings.Join([]string{`"` + string(rune('0'+id)) + `"`, `"77"`, `"worker"`, `"127.0.0.1"`, `"` + values["kernel"] + `(const float *, float *)"`,
					`"1"`, `"7"`, `"(128, 1, 1)"`, `"(4, 1, 1)"`, `"0"`, `"9.0"`, `"Command line profiler metrics"`, `"` + name + `"`, `"x"`, `"` + value + `"`}, ",") + "\n")
			}
		}
	}
	return b.String()
}

func TestProfile(t *testing.T) {
	long := map[string]string{"kernel": "flash", elapsed: "2,000,000", dramRead: "3000000000", dramWritten: "1000000000", dramShare: "66.5", smShare: "30", fused: "500000000",
		adds: "1000", occupancy: "24.6", possible: "25", registers: "168", sharedDynamic: "65536", blocks: "528", threads: "128", waves: "2", wavefronts: "1000", conflicts: "250",
		"launch__occupancy_limit_registers": "3", "launch__occupancy_limit_shared_mem": "3", "launch__occupancy_limit_warps": "16", "launch__occupancy_limit_blocks": "32",
		"smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct": "55", "smsp__warp_issue_stalled_barrier_per_warp_active.pct": "12.2", "smsp__warp_issue_stalled_drain_per_warp_active.pct": "n/a"}
	short := map[string]string{"kernel": "flash", elapsed: "1000"}
	other := map[string]string{"kernel": "combine", elapsed: "5000", dramShare: "3", smShare: "4", blocks: "8", waves: "0.06"}
	nearly := map[string]string{"kernel": "update", elapsed: "4000", dramShare: "35", smShare: "7", blocks: "1024", waves: "0.97"}
	launches, err := Launches(csvOf(short, long, other, nearly))
	require.NoError(t, err)
	require.Len(t, launches, 4)
	all := Profiles(launches)
	require.Len(t, all, 3)
	p := all[0]
	assert.Equal(t, "flash", p.Kernel)
	assert.Equal(t, 2, p.Launches)
	said := map[string]string{}
	for _, r := range p.Rows() {
		said[r.Name] = r.Value + " | " + r.Note
	}
	assert.Equal(t, "2 ms | 528 blocks of 128 threads", said["time"])
	assert.Equal(t, "3 GB read, 1 GB written | 2 TB/s, 66 % of the memory's peak", said["device memory"])
	assert.Equal(t, "1 G float32 operations | 500 GFLOP/s", said["arithmetic"])
	assert.Equal(t, "25 % of what fits | 25 % is possible: 3 blocks at a time on a multiprocessor, by registers and shared memory", said["warps"])
	assert.Equal(t, "65.5 kB a block | bank conflicts: 25 % of its passes", said["shared memory"])
	assert.Equal(t, "for device memory (55 %) | at __syncthreads() (12 %)", said["warps wait"])
	words := strings.Join(p.Words(), "\n")
	assert.Contains(t, words, "bound by device memory")
	assert.Contains(t, words, "25 % of the passes")
	assert.Contains(t, strings.Join(all[1].Words(), " "), "8 blocks fill 6 % of it")
	assert.Contains(t, strings.Join(all[2].Words(), " "), "the warps wait", "more blocks would not help")
}

// A report's table has further columns, which only ncu's advice fills.
func TestATableWithAdvice(t *testing.T) {
	launches, err := Launches(`"ID","Kernel Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type"
"0","softmax","gpu__time_duration.sum","ns","556,672"
"0","softmax","","","","SOLBottleneck","INF"
`)
	require.NoError(t, err)
	require.Len(t, launches, 1)
	assert.Equal(t, 556672.0, launches[0].Values[elapsed])
	_, err = Launches("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\"0\",\"softmax\"\n")
	assert.ErrorContains(t, err, "ends early")
}

func TestWhatNcuRefuses(t *testing.T) {
	_, err := Launches("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n")
	assert.ErrorContains(t, err, "administrators")
	_, err = Launches("==WARNING== No kernels were profiled.\n")
	assert.ErrorContains(t, err, "no kernel was launched")
	_, err = Launches("==ERROR== The application returned an error code (1).\n")
	assert.ErrorContains(t, err, "The application returned an error code (1).")
	assert.Equal(t, []string{"smsp__nosuch_metric.pct"}, Unknown("==ERROR== Failed to find metric regex:^smsp__nosuch_metric.pct(\\.|$)\n"))
	assert.Equal(t, []string{"launch__x"}, Unknown("==ERROR== Failed to find metric launch__x\n"))
}

func TestFindATool(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PATH", "")
	_, err := Find("ncu", filepath.Join(home, "bin", "nvcc"))
	assert.ErrorContains(t, err, "no ncu")
	tool := filepath.Join(home, "compute-sanitizer", "compute-sanitizer")
	require.NoError(t, os.MkdirAll(filepath.Dir(tool), 0o755))
	require.NoError(t, os.WriteFile(tool, nil, 0o755))
	path, err := Find("compute-sanitizer", filepath.Join(home, "bin", "nvcc"))
	require.NoError(t, err)
	assert.Equal(t, tool, path)
}
