package trial

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/copies"
	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/fates"
	"flashlab/internal/repo"
)

// record is fates.txt, and the tree that its hashes are of.
type record struct {
	*fates.Kept
	tree   *fates.Tree
	root   string
	commit string
	own    []string // the files of this package, which say what a fate is
}

// opened is the record, read once.
var opened = sync.OnceValues(func() (r record, err error) {
	if r.root, err = repo.Root(); err != nil {
		return r, err
	}
	if r.Kept, err = fates.Read(filepath.Join(r.root, "grader", "trial", "fates.txt")); err != nil {
		return r, err
	}
	r.commit = fates.Commit(r.root)
	if r.own, err = filepath.Glob(filepath.Join(r.root, "grader", "trial", "*.go")); err != nil {
		return r, err
	}
	for i, name := range r.own {
		if r.own[i], err = filepath.Rel(r.root, name); err != nil {
			return r, err
		}
	}
	r.tree, err = fates.List(r.root)
	return r, err
})

// TestMain writes the record when everything has been graded that is to be.
func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv(allMutants) != "" {
		if err := writeRecord(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func writeRecord() error {
	r, err := opened()
	if err != nil {
		return err
	}
	return r.Write(func(name string) bool {
		kind, rest, _ := strings.Cut(name, "/")
		_, rest, is := registry.All.Owner(rest)
		if kind == "versions" || !is {
			return !is
		}
		_, err := os.Stat(filepath.Join(r.root, "grader", "trial", "specimens", strings.TrimSuffix(name, "/"+rest), rest+".toml"))
		return os.IsNotExist(err)
	})
}

// onRecord skips a test whose fate is on record, unless it is drawn; otherwise it records how the test ends. where is
// whatever else decides: the specimen's own text, for example, or the sandbox.
func onRecord(t *testing.T, kind string, task *rubric.Task, name string, files []gate.File, where ...string) {
	if os.Getenv(allMutants) == "" {
		return
	}
	r, err := opened()
	require.NoError(t, err)
	name = kind + "/" + task.Dir + "/" + name
	key, err := r.tree.Sum(r.decides(t, task, files, where))
	require.NoError(t, err)
	if r.Has(name, key) && os.Getenv(fates.Fresh) == "" && !fates.Drawn(name, r.commit) {
		t.Skip("its fate is on record; make test-all FRESH=1 tries all")
	}
	t.Cleanup(func() { r.Note(name, key, !t.Failed() && !t.Skipped()) })
}

// specimenOnRecord is onRecord of a specimen.
func specimenOnRecord(t *testing.T, kind string, s Specimen, where ...string) {
	r, err := opened()
	require.NoError(t, err)
	files, err := s.Made(r.root)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(r.root, "grader", "trial", "specimens", kind, s.Task.Dir, s.Name+".toml"))
	require.NoError(t, err)
	where = append(where, string(text))
	if s.Fate == Held {
		where = append(where, shippedCode(t, r))
	}
	onRecord(t, kind, s.Task, s.Name, files, where...)
}

// shippedCode is the hash of the code that hand-ins are compared with: most that are held are copies of some.
func shippedCode(t *testing.T, r record) string {
	_, tasks := allTasks(t)
	shipped, err := copies.Shipped(r.root, handin.Names(tasks))
	require.NoError(t, err)
	sum, err := r.tree.Sum(fates.Of{Files: slices.Sorted(maps.Keys(shipped))})
	require.NoError(t, err)
	return sum
}

// decides lists everything that determines a submission's fate: its own files, the worker they are built into, the room
// that judges them, every package that either imports (the gate and the simulator among them), the task's rubric, and
// these tests.
func (r record) decides(t *testing.T, task *rubric.Task, files []gate.File, where []string) fates.Of {
	of := fates.Of{
		Packages: []string{"flashlab/grader/grading/run", "flashlab/grader/grading/sandbox"},
		Files:    slices.Clone(r.own),
		Texts:    append(slices.Clone(where), runtime.GOARCH),
	}
	for _, one := range task.All() {
		reg, err := registry.All.Find(one.Dir)
		require.NoError(t, err)
		of.Packages = append(of.Packages, "flashlab/"+reg.Room(), "flashlab/"+one.Dir)
		of.Files = append(of.Files, one.Dir+"/rubric.toml")
		for _, name := range one.Files {
			of.Replaced = append(of.Replaced, one.Dir+"/"+name)
		}
		for _, name := range one.Provided {
			of.Files = append(of.Files, one.Dir+"/"+name)
		}
	}
	for _, folder := range task.Given {
		names, err := filepath.Glob(filepath.Join(r.root, folder, "*.cu*"))
		require.NoError(t, err)
		require.NotEmpty(t, names, folder)
		for _, name := range names {
			of.Files = append(of.Files, folder+"/"+filepath.Base(name))
		}
	}
	of.Packages = append(of.Packages, strings.Replace(task.Worker(), "./", "flashlab/", 1))
	for _, f := range files {
		of.Texts = append(of.Texts, f.Task+"/"+f.Name+"\n"+string(f.Data))
		if filepath.Ext(f.Name) == ".go" {
			of.Packages = append(of.Packages, imports(f.Data)...)
		}
	}
	return of
}

// imports are the packages that a Go file imports, if it is Go.
func imports(text []byte) (paths []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
