package measure

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/page"
	"flashlab/grader/grading/race"
	"flashlab/grader/tasks/registry"
)

var made = page.Made{Commit: "0123456789ab", GPU: "a GPU", Card: "c0", Driver: "5", Runs: 7}

func storeOf(t *testing.T) *Store {
	dir := t.TempDir()
	return &Store{Dir: filepath.Join(dir, "parts"), Docs: filepath.Join(dir, "docs"), Made: made, Tasks: []registry.Name{"2", "4", "b8"}}
}

func partOf(task registry.Name, m page.Made) page.Part {
	return page.Part{Task: task, Commit: m.Commit, GPU: m.GPU, Before: page.State{Card: m.Card, Driver: m.Driver}, Runs: m.Runs, Rows: []race.Row{{Kernels: "h"}}}
}

// TestAPageGoesOnWhereItWasBrokenOff: parts outlive the call that timed them, and there is a page with the last alone.
func TestAPageGoesOnWhereItWasBrokenOff(t *testing.T) {
	s := storeOf(t)
	missing, err := s.Put(partOf("4", made))
	require.NoError(t, err)
	assert.Equal(t, []registry.Name{"2", "b8"}, missing)
	require.ErrorContains(t, s.Finish(), "lacks tasks 2, b8")
	assert.NoFileExists(t, filepath.Join(s.Docs, "reference.json"))

	again := *s // another call
	_, is := again.Part("4")
	assert.True(t, is)
	_, is = again.Part("2")
	assert.False(t, is)
	_, err = again.Put(partOf("2", made))
	require.NoError(t, err)
	missing, err = again.Put(partOf("b8", made))
	require.NoError(t, err)
	require.Empty(t, missing)
	d, missing := again.Document()
	require.Empty(t, missing)
	require.NoError(t, d.Write(again.Docs, again.Code))
	written, err := page.Load(again.Docs)
	require.NoError(t, err)
	assert.Len(t, written.Parts, 3)
}

// TestPartsOfOthersAreNotTaken: not of another commit, card, driver, GPU or number of runs, nor half a file.
func TestPartsOfOthersAreNotTaken(t *testing.T) {
	for what, change := range map[string]func(m *page.Made){
		"commit": func(m *page.Made) { m.Commit = "abcdef012345" },
		"card":   func(m *page.Made) { m.Card = "c1" },
		"driver": func(m *page.Made) { m.Driver = "6" },
		"GPU":    func(m *page.Made) { m.GPU = "another" },
		"runs":   func(m *page.Made) { m.Runs = 9 },
	} {
		s := storeOf(t)
		_, err := s.Put(partOf("2", made))
		require.NoError(t, err)
		other := *s
		change(&other.Made)
		_, is := other.Part("2")
		assert.False(t, is, what)
		_, err = other.Put(partOf("2", made))
		assert.ErrorContains(t, err, "did the GPU change meanwhile", what)
	}
	s := storeOf(t)
	_, err := s.Put(partOf("2", made))
	require.NoError(t, err)
	whole, err := os.ReadFile(s.file("2"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.file("2"), whole[:len(whole)/2], 0o644))
	_, is := s.Part("2")
	assert.False(t, is)
	require.NoError(t, os.Rename(s.file("2"), s.file("4")))
	require.NoError(t, os.WriteFile(s.file("4"), whole, 0o644))
	_, is = s.Part("4")
	assert.False(t, is, "another task's")
}

// TestThePageIsOfACommit: what git has is taken from it, and a tree with changes has no page.
func TestThePageIsOfACommit(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	ask := func(given string) (string, error) { return PageCommit(t.Context(), root, given) }
	const other = "0123456789abcdef0123456789abcdef01234567"
	_, err := ask("")
	assert.ErrorContains(t, err, "COMMIT=hash")
	got, err := ask(other)
	require.NoError(t, err)
	assert.Equal(t, other[:12], got)
	for _, bad := range []string{other + "-dirty", other[:11], "HEAD", other + ", with changes", "v1"} {
		_, err = ask(bad)
		assert.ErrorContains(t, err, "want the hash of a commit", bad)
	}

	git("init", "-q")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o755))
	for _, name := range []string{"kernels.cu", "docs/reference.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("a"), 0o644))
	}
	git("add", ".")
	git("commit", "-qm", "one")
	got, err = ask("")
	require.NoError(t, err)
	assert.Len(t, got, 12)
	same, err := ask(got)
	require.NoError(t, err)
	assert.Equal(t, got, same)
	_, err = ask(other)
	assert.ErrorContains(t, err, "the commit here is "+got)

	for name := range map[string]bool{"docs/reference.md": true, "docs/reference.json": true, "docs/speedup.svg": true} { // its own, of a call before
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("b"), 0o644))
	}
	_, err = ask("")
	require.NoError(t, err)
	for _, name := range []string{"new.cu", "kernels.cu"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("b"), 0o644))
		_, err = ask("")
		assert.ErrorContains(t, err, "the tree here has changes", name)
		_, err = ask(got)
		assert.ErrorContains(t, err, name)
	}
}
