package skeleton

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
	"flashlab/internal/repo"
)

func TestTheRoomsFollowFromTheRegistry(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	want, err := Rooms(registry.All)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(root, roomsFile))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "a line of the registry was changed by hand: put this text into %s", roomsFile)
}

func TestNamesOfTasks(t *testing.T) {
	for name, dir := range map[string]string{"8_halves": "task8_halves", "c1_halves": "bonus/c1_halves", "9_warmup": "task9_warmup"} {
		made, err := of(name, "")
		require.NoError(t, err)
		assert.Equal(t, dir, made.Dir)
		assert.Equal(t, strings.TrimPrefix(made.Task.Room(), "grader/tasks/"), made.Room)
	}
	for _, name := range []string{"", "halves", "b2", "B2_halves", "8_Halves", "../8_x", "8_two_words"} {
		_, err := of(name, "")
		assert.ErrorContains(t, err, "8_halves or b2_halves", name)
	}
	_, err := of("4_other", "")
	assert.ErrorContains(t, err, "there is a task 4 already (task4_flash)")
}

// course copies the files that git knows, or would add, to a new folder with its own repository.
func course(t *testing.T) string {
	root, err := repo.Root()
	require.NoError(t, err)
	cmd := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list, err := cmd.Output()
	if err != nil {
		t.Skip("not a git repository: ", err)
	}
	to := t.TempDir()
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()))
	}
	return to
}

// in runs a program in a folder, and returns what it says and its exit code.
func in(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	shared, err := cache.Dir() // the simulator and the compiled packages are those of this tree
	require.NoError(t, err)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "NO_COLOR=1", "FLASHLAB_CACHE="+shared)
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// points is the score in a results.json.
func points(t *testing.T, file string) float64 {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var r struct {
		Tests []struct{ Score float64 }
	}
	require.NoError(t, json.NewDecoder(bytes.NewReader(text)).Decode(&r))
	sum := 0.0
	for _, one := range r.Tests {
		sum += one.Score
	}
	return sum
}

// TestATaskTouchesItsFoldersAndOneLine: what its author writes is in the task's folder and its room, but for a line of
// the registry. All other lists of tasks are made from these.
func TestATaskTouchesItsFoldersAndOneLine(t *testing.T) {
	root := course(t)
	git := func(args ...string) string {
		said, code := in(t, root, append([]string{"git", "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		require.Zero(t, code, said)
		return said
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "the course")
	made, err := New(root, "b99_demo", "A demonstration")
	require.NoError(t, err)
	git("add", "-A")
	t.Log("\n" + git("diff", "--cached", "--stat=100"))
	var changed []string
	for line := range strings.Lines(git("diff", "--cached", "--numstat")) {
		f := strings.Fields(line)
		changed = append(changed, f[2])
		switch f[2] {
		case registryFile, readme:
			assert.Equal(t, []string{"1", "0"}, f[:2], "%s: one line more, and nothing else", f[2])
		case roomsFile, "Results.md": // made from the list and the rubric
		default:
			own := strings.HasPrefix(f[2], "bonus/b99_demo/") || strings.HasPrefix(f[2], "grader/tasks/b99/")
			assert.True(t, own, "%s is neither in the task's folder nor in its room", f[2])
		}
	}
	assert.ElementsMatch(t, made, changed)
	page, err := os.ReadFile(filepath.Join(root, readme))
	require.NoError(t, err)
	assert.Contains(t, string(page), "TASK=b9` | 3 |\n| | [b99 a demonstration](bonus/b99_demo/README.md) | … | `make grade TASK=b99` | 1 |\n\n")
	results, err := os.ReadFile(filepath.Join(root, "Results.md"))
	require.NoError(t, err)
	assert.Contains(t, string(results), "\n## Task b99: A demonstration\n")
}

// TestATaskByTheRecipe makes a bonus task in a copy of the course, grades its stub and its solution
// there, and looks for the solution where it must not be.
func TestATaskByTheRecipe(t *testing.T) {
	if os.Getenv("FLASHLAB_ALL") == "" {
		t.Skip("FLASHLAB_ALL is not set: it builds a whole grader")
	}
	root := course(t)
	made, err := New(root, "b99_demo", "A demonstration")
	require.NoError(t, err)
	assert.Len(t, made, 17)
	said, code := in(t, root, "go", "build", "-o", "out/bin/grader", "./grader") // as everything else: so Go's library is compiled already
	require.Zero(t, code, said)
	said, code = in(t, root, "go", "vet", "./bonus/...", "./grader/tasks/b99/...")
	require.Zero(t, code, said)
	said, code = in(t, root, "out/bin/grader", "overlay")
	require.Zero(t, code, said)
	said, code = in(t, root, "go", "test", "-overlay=out/solutions.json", "./grader/tasks/b99/...", "./bonus/b99_demo")
	require.Zero(t, code, said)

	said, code = in(t, root, "out/bin/grader", "grade", "-task", "b99", "-device", "sim", "-solution")
	require.Zero(t, code, said)
	assert.InDelta(t, 1, points(t, filepath.Join(root, "out/reference/results.json")), 1e-9, said)
	said, code = in(t, root, "out/bin/grader", "grade", "-task", "b99", "-device", "sim", "-submission", "bonus/b99_demo", "-out", "out/stub")
	assert.Equal(t, 1, code, said)
	assert.Zero(t, points(t, filepath.Join(root, "out/stub/results.json")), said)
	assert.Contains(t, said, "still the stub")

	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a task"}} {
		said, code = in(t, root, append([]string{"git"}, args...)...)
		require.Zero(t, code, said)
	}
	said, code = in(t, root, "out/bin/grader", "release", "-stale", "out/release")
	require.Zero(t, code, said)
	noSolution(t, filepath.Join(root, "out/release"), "bonus/b99_demo/kernels.cu")
	if _, err := exec.LookPath("bwrap"); err == nil {
		said, code = in(t, root, "out/bin/grader", "grade", "-task", "b99", "-device", "sim", "-submission", "bonus/b99_demo/solution", "-sandbox", "bwrap", "-out", "out/boxed")
		if !strings.Contains(said, "sandbox") { // this machine has none
			require.Zero(t, code, said)
			shared, err := cache.Dir()
			require.NoError(t, err)
			noSolution(t, shared, "bonus/b99_demo/source.go")
		}
	}

	_, err = NewCheck(root, "3", "negated")
	assert.ErrorContains(t, err, "by hand", "plain functions")
	_, err = NewCheck(root, "4", "negated") // whose other checks have a share for speed
	require.NoError(t, err)
	said, code = in(t, root, "go", "vet", "./task4_flash/...", "./grader/tasks/task4/...")
	require.Zero(t, code, said)
	said, code = in(t, root, "go", "run", "./grader", "grade", "-task", "4", "-device", "sim", "-case", "negated")
	assert.Equal(t, 1, code, said)
	assert.Contains(t, said, "Negated is still the stub: task4_flash/README.md says where to start")
}

// noSolution looks for a file of the task, which is there, and for its solution and rubric's hidden
// side, which are not.
func noSolution(t *testing.T, dir, there string) {
	t.Helper()
	found := false
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found = found || strings.HasSuffix(filepath.ToSlash(name), there)
		assert.NotContains(t, filepath.ToSlash(name), "b99_demo/solution")
		return nil
	}))
	assert.True(t, found, "%s is not in %s", there, dir)
}
