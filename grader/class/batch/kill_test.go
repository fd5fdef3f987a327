package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

// The test binary plays a batch that is killed: the variable names its folders.
const playVariable = "FLASHLAB_TEST_BATCH"

func TestMain(m *testing.M) {
	if places := os.Getenv(playVariable); places != "" {
		submissions, out, _ := strings.Cut(places, ":")
		play(submissions, out)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play runs a batch to its end, noting in a file what it grades.
func play(submissions, out string) {
	log, err := os.OpenFile(filepath.Join(filepath.Dir(out), "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	o := options(out, log)
	o.Grade = pretend(20*time.Millisecond, log)
	items, err := intake.Find(submissions, nil)
	if err == nil {
		_, err = Run(context.Background(), o, items)
	}
	if err == nil {
		_, err = grades(out)
	}
	if err != nil {
		panic(err)
	}
}

// grades makes the gradebook of a batch's records, and writes it.
func grades(out string) ([]byte, error) {
	records, err := record.ReadAll(out)
	if err != nil {
		return nil, err
	}
	c := gradebook.Class{Course: options(out, nil).Course, Rubrics: rubrics, Records: records}
	if _, err := c.Write(c.Entries(), out, "", ""); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(out, "gradebook.csv"))
}

// TestKilledAtAnyMoment kills a batch again and again, each time a while after it began, and lets it
// go on: the gradebook is that of a batch that was left alone.
func TestKilledAtAnyMoment(t *testing.T) {
	dir, at := t.TempDir(), t.TempDir()
	const students = 40
	for i := range students {
		submit(t, dir, fmt.Sprintf("s%02d", i), strings.Repeat("x", i+1), strings.Repeat("y", i+1))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s99.zip"), []byte("junk"), 0o644))
	alone := filepath.Join(at, "alone")
	runBatch(t, options(alone, &lines{}), dir)
	want, err := grades(alone)
	require.NoError(t, err)

	out := filepath.Join(at, "killed")
	kills := 0
	for ended := false; !ended; {
		require.Less(t, kills, 200, "it never ends")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), playVariable+"="+dir+":"+out)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		after := time.Duration(rand.IntN(80)) * time.Millisecond
		if kills >= 10 { // enough of them
			after = time.Minute
		}
		select {
		case err := <-done:
			require.NoError(t, err)
			ended = true
		case <-time.After(after):
			require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
			<-done
			kills++
		}
	}
	assert.Equal(t, 10, kills)
	got, err := os.ReadFile(filepath.Join(out, "gradebook.csv"))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
	for _, r := range mustRead(t, out) {
		for i := range r.Tasks {
			r.Tasks[i].Times = nil
		}
		other, err := record.Read(filepath.Join(alone, record.Name(r.Student.ID, r.Attempt)))
		require.NoError(t, err)
		for i := range other.Tasks {
			other.Tasks[i].Times = nil
		}
		assert.Equal(t, other, r)
	}
	log, err := os.ReadFile(filepath.Join(at, "log"))
	require.NoError(t, err)
	// What was in work when it was killed is graded again, and nothing else.
	assert.LessOrEqual(t, strings.Count(string(log), "\n"), 2*students+3*kills)
	left, err := filepath.Glob(filepath.Join(out, "records", "*", record.TempPrefix+"*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func mustRead(t *testing.T, out string) []*record.Record {
	records, err := record.ReadAll(out)
	require.NoError(t, err)
	return records
}
