package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/estimate"
	"flashlab/device/program"
	"flashlab/device/trace"
	"flashlab/internal/cache"
)

func TestArgumentsBehindTheFilesAreTheProgramsOwn(t *testing.T) {
	for _, c := range []struct{ args, files, rest []string }{
		{[]string{"a.cu"}, []string{"a.cu"}, nil},
		{[]string{"a.cu", "b.cpp", "3", "c.cu"}, []string{"a.cu", "b.cpp"}, []string{"3", "c.cu"}},
		{[]string{"a.cu", "--", "b.cu"}, []string{"a.cu"}, []string{"b.cu"}},
		{[]string{"a"}, nil, []string{"a"}},
	} {
		files, rest := split(c.args)
		assert.Equal(t, c.files, files, c.args)
		assert.Equal(t, c.rest, rest, c.args)
	}
}

func TestExitCodes(t *testing.T) {
	result := func(found int, own int, signal string) *program.Result {
		r := &program.Result{Code: own, Signal: signal}
		r.Report.Findings = make([]trace.Finding, found)
		return r
	}
	assert.Equal(t, 0, code(result(0, 0, "")))
	assert.Equal(t, 3, code(result(0, 3, "")))
	assert.Equal(t, findings, code(result(1, 0, "")))
	assert.Equal(t, findings, code(result(1, 3, "")))
	assert.Equal(t, broken, code(result(0, -1, "signal: aborted")))
	assert.Equal(t, usage, run(nil))
}

// TestTheCommand runs it from a folder outside of the tree, as a stranger does.
func TestTheCommand(t *testing.T) {
	dir, err := cache.Dir()
	require.NoError(t, err)
	t.Setenv("FLASHLAB_CACHE", dir)
	t.Chdir(t.TempDir())
	const text = "__global__ void k(int *x) { x[threadIdx.x] = 1; }\n" +
		"int main() {\n    int *x;\n    cudaMalloc(&x, 4);\n    k<<<1, 2>>>(x);\n    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;\n}\n"
	require.NoError(t, os.WriteFile("p.cu", []byte(text), 0o644))
	assert.Equal(t, findings, run([]string{"-sarif", "out.sarif", "p.cu"}))
	written, err := os.ReadFile("out.sarif")
	require.NoError(t, err)
	var sarif struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Level     string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(written, &sarif))
	first := sarif.Runs[0].Results[0]
	assert.Equal(t, "memcheck/out of bounds", first.RuleID)
	assert.Equal(t, "p.cu", first.Locations[0].PhysicalLocation.ArtifactLocation.URI)
	assert.Equal(t, 1, first.Locations[0].PhysicalLocation.Region.StartLine)
	require.NoError(t, os.WriteFile(filepath.Join("q.cu"), []byte("int main() { return 1 }\n"), 0o644))
	assert.Equal(t, notBuilt, run([]string{"q.cu"}))
}

func TestEstimatesAreTold(t *testing.T) {
	h100, err := estimate.Find("H100")
	require.NoError(t, err)
	var b strings.Builder
	one := trace.Counts{Kernel: "k", Launches: 1, Blocks: 1, Ran: 1, Threads: 32}
	two := one
	two.Kernel, two.Launches, two.Blocks, two.Ran, two.Threads = "l", 2, 2, 2, 64
	tellTimes(&b, h100, []trace.Counts{one, two})
	assert.Regexp(t, `^estimate: k: about \d.* on an H100, bound by the launch itself .*\nestimate: l, each of 2 launches: about .*\n$`, b.String())
	assert.Equal(t, usage, run([]string{"-estimate", "T4", "p.cu"}))
}
