package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
)

// In each task's folder make hands its goal, its variables and the task on to the course's Makefile; what it was
// told of another task stays.
func TestMakeInATasksFolder(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "Makefile"), []byte("help grade pack hint unknown-goal:\n\t@echo $@ task=$(TASK) case=$(CASE)\n"), 0o644))
	for _, task := range registry.All {
		folder := filepath.Join(root, filepath.FromSlash(task.Dir))
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "Makefile"), fromFolder(task), 0o644))
		for args, want := range map[string]string{
			"":                       "help task= case=",
			"grade":                  "grade task=" + string(task.Name) + " case=",
			"grade CASE=a/b":         "grade task=" + string(task.Name) + " case=a/b",
			"hint TASK=x":            "hint task=x case=",
			"pack":                   "pack task= case=",
			"unknown-goal TASK=9":    "unknown-goal task=9 case=",
			"-s grade pack CASE=one": "grade task=" + string(task.Name) + " case=one\npack task= case=one",
		} {
			cmd := exec.Command("make", strings.Fields(args)...)
			cmd.Dir = folder
			cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "MAKE") || strings.HasPrefix(s, "MFLAGS=") }) // make runs this test, perhaps
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: make %s: %s", task.Dir, args, said)
			assert.Equal(t, want, strings.TrimSpace(string(said)), "%s: make %s", task.Dir, args)
		}
	}
}
