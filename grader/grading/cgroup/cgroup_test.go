package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaces(t *testing.T) {
	mount := t.TempDir()
	scope := filepath.Join(mount, "user", "term.scope")
	require.NoError(t, os.MkdirAll(scope, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(mount, "user", "cgroup.subtree_control"), []byte("cpu memory\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(scope, "cgroup.subtree_control"), []byte("\n"), 0o644))
	var memory, pids []string
	for _, p := range places("4:cpu,memory:/a/b\n3:pids:/c\n1:name=systemd:/\n0::/user/term.scope\nnonsense\n", mount) {
		if p.memory {
			memory = append(memory, p.parent)
		}
		if p.pids {
			pids = append(pids, p.parent)
		}
	}
	assert.Equal(t, []string{filepath.Join(mount, "memory/a/b"), filepath.Join(mount, "user")}, memory)
	assert.Equal(t, []string{filepath.Join(mount, "pids/c")}, pids)
}

func TestNoGroupBoundsNothing(t *testing.T) {
	var g *Group
	assert.False(t, g.Add(os.Getpid()))
	assert.False(t, g.OutOfMemory())
	assert.Empty(t, g.Dirs())
	g.Remove()
}

func TestAGroupComesAndGoes(t *testing.T) {
	g := New(Limits{Memory: 1 << 30, Processes: 20})
	if g == nil {
		t.Skip("no control group can be made here")
	}
	for _, dir := range g.Dirs() {
		assert.FileExists(t, filepath.Join(dir, "cgroup.procs"))
	}
	assert.False(t, g.OutOfMemory())
	g.Remove()
	for _, dir := range g.Dirs() {
		assert.NoDirExists(t, dir)
	}
}
