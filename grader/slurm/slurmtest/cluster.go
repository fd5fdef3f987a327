// Package slurmtest starts a real Slurm with one node for tests, where Slurm is
// installed.
package slurmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"flashlab/internal/repo"
)

// Cluster is a running Slurm cluster.
type Cluster struct {
	Dir    string
	t      testing.TB
	script string
}

// Start starts a cluster for one test and points SLURM_CONF at it; the test is
// skipped where Slurm is not installed.
func Start(t testing.TB, env ...string) *Cluster {
	t.Helper()
	root, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{t: t, script: filepath.Join(root, "scripts", "slurm-cluster.sh")}
	if out, err := exec.Command(c.script, "check").CombinedOutput(); err != nil {
		t.Skip(strings.TrimSpace(string(out)))
	}
	// A socket's path must be short, so the test's own folder will not do.
	if c.Dir, err = os.MkdirTemp("/tmp", "slurm-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Do("stop"); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, name := range []string{"slurmctld.log", "slurmd.log"} {
				data, _ := os.ReadFile(filepath.Join(c.Dir, name))
				t.Logf("%s:\n%s", name, data[max(0, len(data)-4000):])
			}
		}
		_ = os.RemoveAll(c.Dir)
	})
	if err := c.Do("start", env...); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", filepath.Join(c.Dir, "slurm.conf"))
	return c
}

// Do calls scripts/slurm-cluster.sh.
func (c *Cluster) Do(what string, env ...string) error {
	cmd := exec.Command(c.script, what, c.Dir)
	cmd.Env = append(os.Environ(), env...)
	// To files, not pipes: the daemons hold on to what they were given.
	log, err := os.OpenFile(filepath.Join(c.Dir, "script.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		output, _ := os.ReadFile(log.Name())
		c.t.Logf("slurm-cluster.sh %s: %s", what, output)
		return err
	}
	return nil
}

// KillNode ends the node and all that runs on it, as a power cut would.
func (c *Cluster) KillNode() {
	c.t.Helper()
	if err := c.Do("kill-node"); err != nil {
		c.t.Fatal(err)
	}
}

// Eventually waits for something that the cluster brings about.
func (c *Cluster) Eventually(what string, limit time.Duration, done func() bool) {
	c.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if done() {
			return
		}
	}
	c.t.Fatalf("not within %v: %s", limit, what)
}
