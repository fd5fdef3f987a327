package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSiteFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "site.toml")
	s, found, err := LoadSite(file)
	require.NoError(t, err)
	assert.False(t, found)
	assert.Equal(t, Defaults(), s)

	require.NoError(t, os.WriteFile(file, []byte(Example), 0o644))
	s, found, err = LoadSite(file)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, []string{"--nodes=1", "--ntasks=1", "--time=15", "--cpus-per-task=4", "--partition=gpu", "--account=course", "--gres=gpu:1", "--mem=16G"}, s.flags())

	for text, says := range map[string]string{
		"partitoin = 'x'":          "unknown key",
		"partition = 'x; rm -rf'":  "one word",
		"time = 0":                 "at least 1",
		"options = ['constraint']": "option of sbatch",
		"modules = ['cuda; true']": "module load",
		"time = 15\npartition = ":  "site.toml:2",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, _, err = LoadSite(file)
		assert.ErrorContains(t, err, says, text)
	}
}

func TestSiteOnACommandLine(t *testing.T) {
	s, err := Parse(Defaults(), "partition=gpu,gres=gpu:h100:1,time=60,mem=8G")
	require.NoError(t, err)
	assert.Equal(t, Site{Partition: "gpu", GRES: "gpu:h100:1", Time: 60, CPUs: 4, Memory: "8G"}, s)
	for _, bad := range []string{"partition", "colour=red", "time=soon", "time=0"} {
		_, err = Parse(Defaults(), bad)
		assert.Error(t, err, bad)
	}
	_, err = Parse(Defaults(), "")
	assert.NoError(t, err)
}

// The cache may name variables of the job's own; nothing else of it is run.
func TestPrologueIsAShellsOwnLanguage(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GOPATH", dir+"/it's here")
	s := Site{Cache: dir + "/$SOMEBODY/`touch " + dir + "/ran`$(touch " + dir + "/ran)"}
	out, err := exec.Command("env", "-i", "SOMEBODY=me", "PATH=/usr/bin:/bin", "bash", "-c", s.prologue()+`echo "$GOPATH|$FLASHLAB_CACHE"`).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), dir+"/it's here|"+dir+"/me/")
	assert.NoFileExists(t, dir+"/ran")
}

func TestRanges(t *testing.T) {
	assert.Equal(t, "0-3,7,9-10", ranges([]int{0, 1, 2, 3, 7, 9, 10}))
	assert.Equal(t, "5", ranges([]int{5}))
	assert.Equal(t, "", ranges(nil))
}

func TestStates(t *testing.T) {
	for _, name := range []string{"COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "CANCELLED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "PREEMPTED"} {
		assert.True(t, State{Name: name}.Over(), name)
	}
	for _, name := range []string{"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"} {
		assert.False(t, State{Name: name}.Over(), name)
	}
	assert.Equal(t, "waiting (Priority)", State{"PENDING", "Priority"}.Words())
}
