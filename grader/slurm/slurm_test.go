package slurm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/slurm"
	"flashlab/grader/slurm/slurmtest"
)

var plain = slurm.Site{Time: 1, CPUs: 1}

func TestJobsOnACluster(t *testing.T) {
	c := slurmtest.Start(t)
	ctx := context.Background()
	dir := t.TempDir()
	t.Setenv("SECRET", "of the submitting shell")
	submit := func(j slurm.Job) string {
		j.Dir, j.Output, j.Name = dir, filepath.Join(dir, "%A_%a.log"), "test"
		id, err := plain.Submit(ctx, j)
		require.NoError(t, err)
		return id
	}
	over := func(id string, tasks int) func() bool {
		return func() bool {
			states, err := slurm.States(ctx, id)
			require.NoError(t, err)
			n := 0
			for _, s := range states {
				if s.Over() {
					n++
				}
			}
			return n == tasks
		}
	}

	t.Run("array", func(t *testing.T) {
		id := submit(slurm.Job{Script: "echo task $SLURM_ARRAY_TASK_ID '$'HOME=$HOME SECRET=$SECRET >r$SLURM_ARRAY_TASK_ID; pwd >>r$SLURM_ARRAY_TASK_ID; [ $SLURM_ARRAY_TASK_ID != 2 ]",
			Tasks: []int{0, 1, 2, 5}, AtOnce: 2})
		c.Eventually("the array ends", 20*time.Second, over(id, 4))
		states, err := slurm.States(ctx, id)
		require.NoError(t, err)
		assert.Equal(t, "COMPLETED", states[5].Name)
		assert.Equal(t, "FAILED", states[2].Name)
		wrote, err := os.ReadFile(filepath.Join(dir, "r5"))
		require.NoError(t, err)
		assert.Equal(t, "task 5 $HOME="+os.Getenv("HOME")+" SECRET=\n"+dir+"\n", string(wrote))
	})
	t.Run("cancelled", func(t *testing.T) {
		id := submit(slurm.Job{Script: "sleep 60"})
		c.Eventually("it runs", 20*time.Second, func() bool {
			s, err := slurm.States(ctx, id)
			return err == nil && s[slurm.Single].Name == "RUNNING"
		})
		require.NoError(t, slurm.Cancel(ctx, id))
		c.Eventually("it ends", 20*time.Second, over(id, 1))
		s, err := slurm.States(ctx, id)
		require.NoError(t, err)
		assert.Equal(t, "CANCELLED", s[slurm.Single].Name)
	})
	t.Run("refused", func(t *testing.T) {
		s := plain
		s.Partition = "nosuch"
		_, err := s.Submit(ctx, slurm.Job{Name: "x", Dir: dir, Script: "true", Output: "/dev/null"})
		require.Error(t, err)
		assert.Contains(t, strings.ToLower(err.Error()), "partition")
	})
	t.Run("forgotten", func(t *testing.T) {
		s, err := slurm.States(ctx, "99999")
		require.NoError(t, err)
		assert.Empty(t, s)
	})
	t.Run("controller restarted", func(t *testing.T) {
		id := submit(slurm.Job{Script: "sleep 3; echo done >after"})
		require.NoError(t, c.Do("controller"))
		c.Eventually("the job is known and ends", 30*time.Second, func() bool {
			s, err := slurm.States(ctx, id)
			return err == nil && s[slurm.Single].Name == "COMPLETED"
		})
		assert.FileExists(t, filepath.Join(dir, "after"))
	})
}

// A job whose node is lost comes back, when it may. It takes a minute.
func TestALostNode(t *testing.T) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("make test-all runs it")
	}
	c := slurmtest.Start(t)
	ctx := context.Background()
	dir := t.TempDir()
	submit := func(requeue bool) string {
		id, err := plain.Submit(ctx, slurm.Job{Name: "lost", Dir: dir, Output: "/dev/null", Requeue: requeue,
			Script: "echo x >>started-$SLURM_JOB_ID; [ ${SLURM_RESTART_COUNT:-0} -gt 0 ] || sleep 300"})
		require.NoError(t, err)
		return id
	}
	again, never := submit(true), submit(false)
	state := func(id string) slurm.State {
		s, err := slurm.States(ctx, id)
		if err != nil {
			return slurm.State{}
		}
		return s[slurm.Single]
	}
	c.Eventually("both run", 20*time.Second, func() bool {
		begun, _ := filepath.Glob(filepath.Join(dir, "started-*")) // RUNNING comes a moment before
		return len(begun) == 2
	})
	c.KillNode()
	c.Eventually("the loss is seen", 2*time.Minute, func() bool { return state(never).Over() && state(again).Name == "PENDING" })
	assert.Equal(t, "NODE_FAIL", state(never).Name)
	require.NoError(t, c.Do("node"))
	c.Eventually("it ran once more", time.Minute, func() bool { return state(again).Name == "COMPLETED" })
	started, err := os.ReadFile(filepath.Join(dir, "started-"+again))
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", string(started))
}
