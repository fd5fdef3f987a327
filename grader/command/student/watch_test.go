package student

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
)

// watched is two files, looked at every few milliseconds.
func watched(t *testing.T) (s saves, a, b string) {
	dir := t.TempDir()
	a, b = filepath.Join(dir, "a.go"), filepath.Join(dir, "b.cu")
	for _, name := range []string{a, b} {
		require.NoError(t, os.WriteFile(name, []byte("one"), 0o644))
	}
	return saves{files: []string{a, b}, every: 5 * time.Millisecond, say: func(string) {}}, a, b
}

func within(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(stop)
	return ctx
}

func TestASaveIsSeen(t *testing.T) {
	s, _, b := watched(t)
	seen, err := s.settled(within(t))
	require.NoError(t, err)
	quiet, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	require.ErrorIs(t, s.changed(quiet, seen), context.DeadlineExceeded, "nothing was saved")

	time.AfterFunc(30*time.Millisecond, func() { _ = os.WriteFile(b, []byte("another"), 0o644) })
	require.NoError(t, s.changed(within(t), seen))
	now, err := s.settled(within(t))
	require.NoError(t, err)
	assert.NotEqual(t, seen, now)
}

// An editor writes a new file and gives it the old one's name: for a moment there is none.
func TestAFileThatIsReplacedIsWaitedFor(t *testing.T) {
	s, a, _ := watched(t)
	seen, err := s.settled(within(t))
	require.NoError(t, err)
	require.NoError(t, os.Remove(a))
	said := make(chan string, 1)
	s.say = func(missing string) { said <- missing }
	time.AfterFunc(200*time.Millisecond, func() { _ = os.WriteFile(a, []byte("two"), 0o644) })
	now, err := s.settled(within(t))
	require.NoError(t, err)
	assert.NotEqual(t, seen, now)
	assert.Equal(t, a, <-said)
}

func TestSavesInARowAreOne(t *testing.T) {
	s, a, _ := watched(t)
	s.every = 50 * time.Millisecond
	go func() {
		for i := range 10 {
			_ = os.WriteFile(a, make([]byte, i), 0o644)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	time.Sleep(5 * time.Millisecond)
	_, err := s.settled(within(t))
	require.NoError(t, err)
	info, err := os.Stat(a)
	require.NoError(t, err)
	assert.EqualValues(t, 9, info.Size(), "the last of them")
}

func TestWhatFailedFirst(t *testing.T) {
	right, hidden := verdict.Outcome{Name: "1x1", Passed: true}, verdict.Outcome{Name: "h", Hidden: true}
	wrong := verdict.Outcome{Name: "2x2"}
	race := verdict.Found{Finding: trace.Finding{Check: "race"}, Case: "17x113"}
	of := func(cases []verdict.Outcome, found ...verdict.Found) verdict.Verdict {
		return verdict.Verdict{Checks: []verdict.Check{{ID: "softmax", Cases: cases, Findings: found}}}
	}
	assert.Empty(t, first(of([]verdict.Outcome{right, hidden})), "a hidden case cannot be run alone")
	assert.Equal(t, "softmax/2x2", first(of([]verdict.Outcome{right, hidden, wrong}, race)))
	assert.Equal(t, "softmax/17x113", first(of([]verdict.Outcome{right}, race)))
	assert.Empty(t, first(verdict.Verdict{Refused: "kernels.cu:3: expected ;"}))
}

func TestASaveEndsWhatIsGraded(t *testing.T) {
	s, a, _ := watched(t)
	seen, err := s.settled(within(t))
	require.NoError(t, err)
	one, done := s.untilChanged(within(t), seen)
	defer done()
	require.NoError(t, one.Err())
	require.NoError(t, os.WriteFile(a, []byte("another"), 0o644))
	<-one.Done()
	assert.ErrorIs(t, one.Err(), context.Canceled)
}
