package cluster_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/slurm/slurmtest"
	"flashlab/internal/repo"
)

// class is a small class for task 1, and the grader to grade it with.
type class struct {
	t                   *testing.T
	grader, submissions string
	gradebook           []byte // as a batch without a cluster makes it
}

func newClass(t *testing.T) class {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := t.TempDir()
	c := class{t: t, grader: filepath.Join(dir, "grader"), submissions: filepath.Join(dir, "submissions")}
	build := exec.Command("go", "build", "-o", c.grader, "./grader")
	build.Dir = root
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, "task1_reference", name))
		require.NoError(t, err)
		return string(text)
	}
	solution := read("solution/attention.go")
	slow := strings.Replace(solution, "func Softmax(scores *tensor.Tensor) (*tensor.Tensor, error) {",
		"func Softmax(scores *tensor.Tensor) (*tensor.Tensor, error) {\n\tx := 0.0\n\tfor i := 0; i < 100_000_000; i++ {\n\t\tx += float64(i)\n\t}\n\tif x < 0 {\n\t\treturn nil, nil\n\t}", 1)
	require.NotEqual(t, solution, slow)
	for student, text := range map[string]string{"ada": solution, "bob": slow, "cat": read("attention.go"), "dan": "package reference\nfunc"} {
		folder := filepath.Join(c.submissions, student, "task1_reference")
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "attention.go"), []byte(text), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(c.submissions, "eve.zip"), []byte("no zip"), 0o644))
	out := filepath.Join(dir, "local")
	output, err = c.command(context.Background(), out).CombinedOutput()
	require.NoError(t, err, string(output))
	c.gradebook = c.read(out)
	return c
}

func (c class) command(ctx context.Context, out string, args ...string) *exec.Cmd {
	root, err := repo.Root()
	require.NoError(c.t, err)
	cmd := exec.CommandContext(ctx, c.grader, append([]string{"batch", c.submissions, "-o", out, "-tasks", "1", "-device", "sim", "-trust"}, args...)...)
	cmd.Dir = root
	return cmd
}

const onSlurm = "gres=,cpus=1,mem=200M,time=5"

func (c class) read(out string) []byte {
	text, err := os.ReadFile(filepath.Join(out, "gradebook.csv"))
	require.NoError(c.t, err)
	return text
}

// start grades on the cluster; at is called once a line of the output matches.
func (c class) start(cluster *slurmtest.Cluster, out string, until *regexp.Regexp, at func(cmd *exec.Cmd)) (string, error) {
	w := &slurmtest.Output{}
	cmd := c.command(context.Background(), out, "-slurm", onSlurm, "-at-once", "1")
	cmd.Stdout, cmd.Stderr = w, w
	require.NoError(c.t, cmd.Start())
	c.t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test ends before it
	if at != nil {
		cluster.Eventually("the grader says "+until.String(), time.Minute, func() bool { return until.MatchString(w.String()) })
		at(cmd)
	}
	err := cmd.Wait()
	return w.String(), err
}

// needsAll skips what takes minutes.
func needsAll(t *testing.T) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("make test-all runs it")
	}
}

var firstDone = regexp.MustCompile(`(?m)^1/5 `)

func TestABatchOnACluster(t *testing.T) {
	needsAll(t)
	cluster := slurmtest.Start(t)
	c := newClass(t)

	t.Run("its own jobs cancelled", func(t *testing.T) {
		out := t.TempDir()
		words, err := c.start(cluster, out, firstDone, func(*exec.Cmd) {
			require.NoError(t, exec.Command("scancel", "--name=flashlab-batch").Run())
		})
		require.NoError(t, err, words)
		// On a busy machine the next look may come after Slurm has forgotten the jobs.
		assert.Regexp(t, `no result: (cancelled|Slurm no longer lists it)\. It is sent again`, words)
		assert.Equal(t, string(c.gradebook), string(c.read(out)))
		assert.Contains(t, words, "4 tasks graded now", "nothing twice")

		words, err = c.start(cluster, out, nil, nil)
		require.NoError(t, err, words)
		assert.Contains(t, words, "0 tasks graded now; graded before: 5 students")
		assert.Equal(t, string(c.gradebook), string(c.read(out)))
	})
	t.Run("killed and started again", func(t *testing.T) {
		out := t.TempDir()
		words, err := c.start(cluster, out, firstDone, func(cmd *exec.Cmd) { _ = cmd.Process.Kill() })
		require.Error(t, err, words)
		words, err = c.start(cluster, out, nil, nil)
		require.NoError(t, err, words)
		assert.Contains(t, words, "Jobs of an earlier run still count")
		assert.Contains(t, words, "graded before: 1 student;")
		assert.Equal(t, string(c.gradebook), string(c.read(out)))
	})
	t.Run("interrupted and started again", func(t *testing.T) {
		out := t.TempDir()
		words, err := c.start(cluster, out, firstDone, func(cmd *exec.Cmd) { _ = cmd.Process.Signal(os.Interrupt) })
		require.Error(t, err, words)
		assert.Contains(t, words, "the jobs are cancelled")
		cluster.Eventually("nothing runs", 20*time.Second, func() bool {
			left, err := exec.Command("squeue", "-h").Output()
			return err == nil && len(left) == 0
		})
		words, err = c.start(cluster, out, nil, nil)
		require.NoError(t, err, words)
		assert.Equal(t, string(c.gradebook), string(c.read(out)))
	})
}

// The node is lost while a student is graded. The cluster takes a minute to notice
// that, and another to start again.
func TestABatchLosesItsNode(t *testing.T) {
	needsAll(t)
	cluster := slurmtest.Start(t)
	c := newClass(t)
	out := t.TempDir()
	words, err := c.start(cluster, out, firstDone, func(*exec.Cmd) {
		cluster.Eventually("another student is being graded", 20*time.Second, func() bool {
			running, err := exec.Command("squeue", "-h", "-t", "RUNNING").Output()
			return err == nil && len(running) > 0
		})
		cluster.KillNode()
		cluster.Eventually("the loss is seen", 2*time.Minute, func() bool {
			down, err := exec.Command("sinfo", "-h", "-o", "%T").Output()
			return err == nil && strings.HasPrefix(string(down), "down")
		})
		require.NoError(t, cluster.Do("controller"))
		require.NoError(t, cluster.Do("node"))
	})
	require.NoError(t, err, words)
	assert.Contains(t, words, "Slurm restarts it")
	assert.Contains(t, words, "lost and started again: 1 array task.")
	assert.Equal(t, string(c.gradebook), string(c.read(out)))
}
