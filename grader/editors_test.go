package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// clangdError are clangd's errors in a file; its tries at refactoring are none.
var clangdError = regexp.MustCompile(`(?m)^E\[.*\] Line \d+: .*$`)

// TestEditorsShowNoErrors: .clangd has a student's files compile as the simulator compiles them.
func TestEditorsShowNoErrors(t *testing.T) {
	var clangd string
	for _, name := range []string{"clangd", "clangd-16", "clangd-19", "clangd-18", "clangd-17", "clangd-15", "clangd-14"} {
		if path, err := exec.LookPath(name); err == nil {
			clangd = path
			break
		}
	}
	if clangd == "" {
		t.Skip("no clangd here")
	}
	root, err := repo.Root()
	require.NoError(t, err)
	check := func(file string) []string {
		cmd := exec.Command(clangd, "--check="+file)
		cmd.Dir = root
		out, _ := cmd.CombinedOutput() // it fails for tries at refactoring, too
		require.Contains(t, string(out), "Built preamble", file)
		return clangdError.FindAllString(string(out), -1)
	}
	for _, file := range []string{"task0_warmup/solution/kernels.cu", "task2_unfused/kernels.cu", "task5_decode/kernels.cu", "bonus/b7_kvcache/append.cu"} {
		assert.Empty(t, check(file), file)
	}
	wrong := filepath.Join(root, "out", "editors", "wrong.cu")
	require.NoError(t, os.MkdirAll(filepath.Dir(wrong), 0o755))
	require.NoError(t, os.WriteFile(wrong, []byte("extern \"C\" __global__ void f(float *x) { x[threadIdx.x] = y; }\n"), 0o644))
	assert.NotEmpty(t, check(wrong), "an error is seen")
}

// TestEditorsFindTheLine: what the grader prints leads to a file and a line.
func TestEditorsFindTheLine(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, ".vscode", "tasks.json"))
	require.NoError(t, err)
	var file struct {
		Tasks []struct {
			ProblemMatcher struct {
				Pattern struct{ Regexp string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &file))
	require.Len(t, file.Tasks, 2)
	for _, task := range file.Tasks {
		matcher := regexp.MustCompile(task.ProblemMatcher.Pattern.Regexp)
		for line, want := range map[string][]string{
			"kernels.cu:46:13: race on shared memory partial[0] (4 bytes)":           {"kernels.cu", "46", "13", "race on shared memory partial[0] (4 bytes)"},
			"  kernels.cu:12:5: error: use of undeclared identifier 'x'":             {"kernels.cu", "12", "5", "error: use of undeclared identifier 'x'"},
			"  task2_unfused/attention.go:17:2: undefined: shape":                    {"attention.go", "17", "2", "undefined: shape"},
			"                kernels.cu:62: a warp's request moves 32 sectors":       {"kernels.cu", "62", "", "a warp's request moves 32 sectors"},
			"    thread (0,0,0) wrote it at kernels.cu:43, thread (1,0,0) reads it ": nil,
			"again: make grade TASK=2 CASE=softmax/17x113":                           nil,
		} {
			m := matcher.FindStringSubmatch(line)
			if want == nil {
				assert.Nil(t, m, line)
			} else if assert.NotNil(t, m, line) {
				assert.Equal(t, want, m[1:], line)
			}
		}
	}
}
