package device_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/internal/repo"
)

// TestTheTenCallsRun puts the page's examples into one program, and runs it in the simulator.
func TestTheTenCallsRun(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "ten-calls.md"))
	require.NoError(t, err)
	headings := regexp.MustCompile(`(?m)^## (\d+)\. (\w+):`).FindAllStringSubmatch(string(page), -1)
	require.Len(t, headings, 10)
	examples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, examples, 10, "an example for each")
	var body strings.Builder
	for i, e := range examples {
		assert.Contains(t, e[1], headings[i][2], "the example of the call")
		body.WriteString(e[1])
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "out"), 0o755))
	dir, err := os.MkdirTemp(filepath.Join(root, "out"), "tencalls")
	require.NoError(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	program := `package main

import (
	"fmt"
	"os"

	"flashlab/device"
	"flashlab/device/sim"
)

func run(q device.Queue, x device.Buffer[float32], src device.Source) error {
` + body.String() + `	return nil
}

func main() {
	d, err := sim.Start(sim.Options{})
	if err == nil {
		defer d.Close()
		q := device.QueueOf(d)
		var x device.Buffer[float32]
		x, err = device.Upload(q, "x", []float32{1, 2, 3})
		if err == nil {
			err = run(q, x, device.Source{Name: "k.cu", Text: "extern \"C\" __global__ void add_ten(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 10; }"})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
	cmd := exec.Command("go", "run", filepath.Join(dir, "main.go"))
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "no C++ compiler") {
		t.Skip(string(out))
	}
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "1024 3\n", "what CopyOut's example prints")
	assert.Contains(t, string(out), " 512\n", "what Slice's example prints")
}
