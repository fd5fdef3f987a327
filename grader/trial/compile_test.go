package trial

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// TestCompilingSaysWhatTheCompilersSay, and does not grade.
func TestCompilingSaysWhatTheCompilersSay(t *testing.T) {
	root, task := setup(t)
	compile := func(file, old, new string) run.Compiled {
		dir := t.TempDir()
		for _, f := range task.Files {
			text, err := os.ReadFile(filepath.Join(root, task.Dir, "solution", f))
			require.NoError(t, err)
			if f == file {
				require.Contains(t, string(text), old)
				text = []byte(strings.Replace(string(text), old, new, 1))
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, f), text, 0o644))
		}
		devices, err := run.Choose(root, "sim")
		require.NoError(t, err)
		c, err := run.Compile(context.Background(), run.Options{Root: root, Task: task, Ops: rooms.Ops, Subject: run.Submission(root, task, dir), Devices: devices})
		require.NoError(t, err)
		return c
	}
	c := compile("", "", "")
	assert.Empty(t, c.Wrong+c.But)
	assert.Equal(t, "Go, and kernels for the simulator", c.What)
	assert.Regexp(t, `kernels\.cu:\d+:\d+: error: .*largest`, compile("kernels.cu", "float largest =", "float largst =").Wrong)
	assert.Contains(t, compile("attention.go", "func New(", "var x = y\n\nfunc New(").Wrong, "undefined: y")
	assert.Contains(t, compile("attention.go", "package unfused", "package unfused\n\nimport \"os\"").Wrong, "os")
}
