package trial

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// linker counts how often a program was linked since it was last asked: the go command that the grader finds has every
// tool run by a script.
func linker(t *testing.T) (runs func() int) {
	t.Helper()
	real, err := exec.LookPath("go")
	require.NoError(t, err)
	dir := t.TempDir()
	counted := filepath.Join(dir, "counted")
	for name, script := range map[string]string{
		"go":   fmt.Sprintf("if [ \"$1\" = build ]; then shift; exec %q build -toolexec=%q \"$@\"; fi\nexec %q \"$@\"", real, filepath.Join(dir, "tool"), real),
		"tool": fmt.Sprintf("case $1 in */link) [ \"$2\" = -V=full ] || echo link >> %q;; esac\nexec \"$@\"", counted),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() int {
		text, err := os.ReadFile(counted)
		if err != nil {
			return 0
		}
		require.NoError(t, os.Remove(counted))
		return strings.Count(string(text), "link")
	}
}

// compiled is what becomes of a subject that is compiled, Go and kernels.
func compiled(t *testing.T, root string, task *rubric.Task, s run.Subject) run.Compiled {
	t.Helper()
	devices, err := run.Choose(root, "sim")
	require.NoError(t, err)
	c, err := run.Compile(context.Background(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: s, Devices: devices, Output: t.TempDir()})
	require.NoError(t, err)
	return c
}

// TestASaveOfAKernelLinksNothing: the worker of the same Go is there already, and has the new kernel handed to its device.
func TestASaveOfAKernelLinksNothing(t *testing.T) {
	root, task := setup(t)
	runs := linker(t)
	dir := t.TempDir()
	save := func(file, more string) {
		text, err := os.ReadFile(filepath.Join(root, task.Dir, "solution", file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), append(text, more...), 0o644))
	}
	grade := func() run.Compiled { return compiled(t, root, task, run.Submission(root, task, dir)) }
	save("attention.go", "\nconst _ = "+fmt.Sprintf("%q", rand.Text())+"\n") // nobody has linked that yet
	save("kernels.cu", "")
	assert.Empty(t, grade().Wrong)
	assert.Equal(t, 1, runs(), "new Go is linked")
	save("kernels.cu", "\n__global__ void more() {}\n")
	assert.Empty(t, grade().Wrong)
	assert.Zero(t, runs(), "a kernel was saved")
	save("kernels.cu", "\n__global__ void more() { nothing(); }\n")
	assert.Contains(t, grade().Wrong, "nothing", "what was saved is what is compiled")
	assert.Zero(t, runs(), "a kernel was saved")
	save("attention.go", "\nconst _ = "+fmt.Sprintf("%q", rand.Text())+"\n")
	grade()
	assert.Equal(t, 1, runs(), "Go was saved")
}

// TestSpecimensThatDifferInKernelsShareAWorker: of their edits the Go command sees none.
func TestSpecimensThatDifferInKernelsShareAWorker(t *testing.T) {
	root, task := setup(t)
	runs := linker(t)
	specimens, err := Load(root, Mutants, task)
	require.NoError(t, err)
	first := map[string]Specimen{} // by their Go
	shared := 0
	for _, s := range specimens {
		files, err := s.Made(root)
		require.NoError(t, err)
		text := goOf(files)
		if _, there := first[text]; !there {
			first[text] = s
			continue
		}
		if shared++; shared > 2 {
			continue // building a few shows it
		}
		compiled(t, root, task, first[text].Subject(root))
		runs()
		assert.Empty(t, compiled(t, root, task, s.Subject(root)).Wrong, s.Name)
		assert.Zero(t, runs(), "%s differs from %s in kernels alone", s.Name, first[text].Name)
	}
	t.Logf("%d specimens, %d workers", len(specimens), len(first))
	assert.Greater(t, shared, 2)
}

func goOf(files []gate.File) string {
	var all strings.Builder
	for _, f := range files {
		if filepath.Ext(f.Name) == ".go" {
			fmt.Fprintf(&all, "%s/%s\n%s\n", f.Task, f.Name, f.Data)
		}
	}
	return all.String()
}

// TestNoWorkerHoldsAKernel: what is linked into one embeds no file that a device compiles. CUB's headers, whose names end
// in .cuh, are the simulator's language, as its other headers are; none of them may hold a kernel.
func TestNoWorkerHoldsAKernel(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for _, tags := range []string{"graded,noasm", "cuda,graded,noasm"} {
		cmd := exec.Command("go", "list", "-deps", "-tags", tags, "-json=ImportPath,EmbedFiles", "./grader/tasks/.../worker")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=")
		out, err := cmd.Output()
		require.NoError(t, err)
		packages := 0
		for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); packages++ {
			var p struct {
				ImportPath string
				EmbedFiles []string
			}
			require.NoError(t, decoder.Decode(&p))
			for _, f := range p.EmbedFiles {
				if p.ImportPath == "flashlab/device/sim" && strings.HasPrefix(f, "include/") && filepath.Ext(f) == ".cuh" {
					text, err := os.ReadFile(filepath.Join(root, "device/sim", f))
					require.NoError(t, err)
					assert.NotContains(t, string(text), "__global__ ", "%s of the simulator's headers holds a kernel", f)
					continue
				}
				assert.NotContains(t, []string{".cu", ".cuh"}, filepath.Ext(f), "%s embeds %s: leave it to a file with the tag !graded", p.ImportPath, f)
			}
		}
		assert.Greater(t, packages, 100, tags)
	}
}
