package gpujob_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/slurm"
	"flashlab/grader/slurm/gpujob"
	"flashlab/grader/slurm/slurmtest"
)

// job makes a tree with a file of the student's, and a shell script for a grader.
func job(t *testing.T, script string) (gpujob.Options, *slurmtest.Output) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "task1_reference"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "task1_reference", "attention.go"), []byte("first"), 0o644))
	grader := filepath.Join(root, "grader.sh")
	require.NoError(t, os.WriteFile(grader, []byte("#!/bin/bash\n"+script), 0o755))
	w := &slurmtest.Output{}
	return gpujob.Options{Root: root, Grader: grader, Site: slurm.Site{Time: 1, CPUs: 1}, Name: "task1", Args: []string{"grade", "it's"}, W: w,
		Tasks: []*rubric.Task{{Dir: "task1_reference", Files: []string{"attention.go"}}}, Poll: 100 * time.Millisecond}, w
}

func TestJobs(t *testing.T) {
	c := slurmtest.Start(t)

	t.Run("streams, and works on a copy", func(t *testing.T) {
		// Its arguments: grade "it's" -snapshot DIR -out DIR.
		o, w := job(t, `echo "args $1 $2"; sleep 2; cat "$4/task1_reference/attention.go"; echo; echo result >"$6/result"; exit 1`)
		go func() {
			for range 100 {
				time.Sleep(50 * time.Millisecond)
				if strings.Contains(w.String(), "args grade it's") { // it came while the job ran
					_ = os.WriteFile(filepath.Join(o.Root, "task1_reference", "attention.go"), []byte("edited meanwhile"), 0o644)
					return
				}
			}
		}()
		r, err := gpujob.Run(context.Background(), o)
		require.NoError(t, err)
		assert.Equal(t, 1, r.Code)
		assert.Contains(t, w.String(), "\nfirst\n")
		assert.FileExists(t, filepath.Join(r.Dir, "result"))
		mine, err := os.ReadFile(filepath.Join(o.Root, "task1_reference", "attention.go"))
		require.NoError(t, err)
		assert.Equal(t, "edited meanwhile", string(mine))
	})
	t.Run("is cancelled", func(t *testing.T) {
		o, w := job(t, "echo begun; sleep 100; echo never")
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			c.Eventually("it runs", 20*time.Second, func() bool { return strings.Contains(w.String(), "begun") })
			cancel()
		}()
		_, err := gpujob.Run(ctx, o)
		require.ErrorIs(t, err, gpujob.ErrBrokenOff)
		assert.ErrorContains(t, err, "is cancelled")
	})
	t.Run("is ended by others", func(t *testing.T) {
		o, w := job(t, "echo begun; sleep 100")
		go func() {
			c.Eventually("it runs", 20*time.Second, func() bool { return strings.Contains(w.String(), "begun") })
			fields := strings.Fields(w.String()) // "Job N is submitted …"
			_ = slurm.Cancel(context.Background(), fields[1])
		}()
		_, err := gpujob.Run(context.Background(), o)
		assert.ErrorContains(t, err, "ended without a result: cancelled")
	})
	t.Run("is refused", func(t *testing.T) {
		o, _ := job(t, "true")
		o.Site.GRES = "gpu:1"
		_, err := gpujob.Run(context.Background(), o)
		assert.ErrorContains(t, err, "sbatch: ")
	})
}

func TestWithoutSlurm(t *testing.T) {
	o, _ := job(t, "true")
	t.Setenv("PATH", t.TempDir())
	_, err := gpujob.Run(context.Background(), o)
	assert.ErrorContains(t, err, "there is no Slurm here")
}
