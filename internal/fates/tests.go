package fates

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"flashlab/internal/glob"
	"flashlab/internal/repo"
)

// All is set by `make test-all`: without it no record is read or written. Fresh is set by `make test-all FRESH=1`:
// everything runs, on record or not.
const All, Fresh = "FLASHLAB_ALL", "FLASHLAB_FRESH"

// ofTests is a package's record, which testdata keeps from releases.
const ofTests = "testdata/fates.txt"

// Tests is the record of one package's slow tests: see Main.
type Tests struct {
	// Package is the tests', as it is imported.
	Package string
	// Reads are files of the tree that the tests open, as patterns from its root, besides those that are embedded or
	// compiled into them.
	Reads []string
	// Programs are commands whose versions decide, too: compilers.
	Programs []string

	looks, opens sync.Once
	lost, failed error
	root, commit string
	tree         *Tree
	of           Of
	key          string
	kept         *Kept
	asked        sync.Map // the names of tests that called Skip, and of their functions
}

// Commit is the tree's, which says what is drawn; without one the same are drawn each time.
func Commit(root string) string {
	commit, _ := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output()
	return string(commit)
}

func (r *Tests) open() error {
	r.opens.Do(func() {
		if r.key, r.failed = r.Sum(os.ReadFile); r.failed == nil {
			r.kept, r.failed = Read(ofTests)
		}
	})
	return r.failed
}

// Sum is the hash of everything that decides, of files as they are read here.
func (r *Tests) Sum(read func(path string) ([]byte, error)) (string, error) {
	r.looks.Do(func() { r.lost = r.look() })
	if r.lost != nil {
		return "", r.lost
	}
	return r.tree.Reading(read).Sum(r.of)
}

// look finds what decides.
func (r *Tests) look() (err error) {
	if r.root, err = repo.Root(); err != nil {
		return err
	}
	if r.tree, err = List(r.root); err != nil {
		return err
	}
	r.commit = Commit(r.root)
	r.of = Of{Tests: []string{r.Package}, Files: []string{"go.mod"}, Texts: r.versions()}
	for _, pattern := range r.Reads {
		found, err := glob.In(r.root, pattern)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("the record of %s: no file is %s", r.Package, pattern)
		}
		for _, path := range found {
			r.of.Files = append(r.of.Files, strings.TrimPrefix(path, r.root+"/"))
		}
	}
	return nil
}

// versions are those of the programs, of Go and of the machine, and what variables ask for.
func (r *Tests) versions() []string {
	texts := []string{runtime.Version(), runtime.GOARCH}
	for _, name := range r.Programs {
		out, _ := exec.Command(name, "--version").Output() // none: the tests do without, and so they do next time
		first, _, _ := strings.Cut(string(out), "\n")
		texts = append(texts, name+": "+first)
	}
	for _, one := range slices.Sorted(slices.Values(os.Environ())) {
		name, _, _ := strings.Cut(one, "=")
		switch {
		case name == All, name == Fresh, name == "FLASHLAB_CACHE":
		case name == "CXX", strings.HasPrefix(name, "FLASHLAB_"):
			texts = append(texts, one)
		}
	}
	return texts
}

// renamed is how testing tells tests of one name apart: by the order in which they run.
var renamed = regexp.MustCompile(`#\d\d+(/|$)`)

// Skip skips a test that is on record, unless it is drawn; otherwise it records how the test ends. where is whatever
// else decides.
func (r *Tests) Skip(t *testing.T, where ...string) {
	t.Helper()
	if os.Getenv(All) == "" {
		return
	}
	if renamed.MatchString(t.Name()) {
		t.Fatal("another test has this name, so that a record cannot tell them apart: give it one of its own")
	}
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	key := r.key
	if len(where) > 0 {
		key = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %q", key, where)))
	}
	top, _, _ := strings.Cut(t.Name(), "/")
	r.asked.Store(top, true)
	r.asked.Store(t.Name(), true)
	if r.kept.Has(t.Name(), key) && os.Getenv(Fresh) == "" && !Drawn(t.Name(), r.commit) {
		t.Skip("it is on record; make test-all FRESH=1 runs all")
	}
	t.Cleanup(func() {
		if !t.Skipped() {
			r.kept.Note(t.Name(), key, !t.Failed())
		}
	})
}

// Main runs a package's tests, and writes the record: `func TestMain(m *testing.M) { os.Exit(record.Main(m)) }`. It
// fails where a test has opened a file that does not decide.
func (r *Tests) Main(m *testing.M) int {
	code := m.Run()
	if os.Getenv(All) == "" || r.kept == nil {
		return code
	}
	err := r.checkLog()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(ofTests), 0o755)
	}
	if err == nil {
		err = r.kept.Write(func(name string) bool { return r.isGone(name) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// isGone tells that there is no test of this name any more: where its function is not there, or has run, and not with
// this part. A function that has skipped all of itself leaves its parts on record.
func (r *Tests) isGone(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	_, ran := r.asked.Load(top)
	_, asked := r.asked.Load(name)
	only := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String()
	return ran && !asked && only == "" || !r.has(top)
}

// has tells whether the package's tests have a function of this name.
func (r *Tests) has(function string) bool {
	for _, name := range r.tree.files(Of{Tests: []string{r.Package}}) {
		text, _ := os.ReadFile(filepath.Join(r.root, name))
		if strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), "func "+function+"(") {
			return true
		}
	}
	return false
}

// checkLog reads what the go command has the tests note of the files that they open.
func (r *Tests) checkLog() error {
	path := flag.Lookup("test.testlogfile").Value.String()
	if path == "" {
		return nil
	}
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if missing := r.undecided(string(log)); len(missing) > 0 {
		return fmt.Errorf("%s: the tests open %s, which their record's hash leaves out: name it in Reads", r.Package, strings.Join(missing, ", "))
	}
	return nil
}

// undecided are the tree's files that a log has as opened, and the hash has not.
func (r *Tests) undecided(log string) []string {
	known := map[string]bool{"go.mod": true, strings.TrimPrefix(r.Package, "flashlab/") + "/" + ofTests: true}
	for _, name := range append(r.tree.files(r.of), r.of.Files...) {
		known[name] = true
	}
	dir := filepath.Join(r.root, strings.TrimPrefix(r.Package, "flashlab/"))
	missing := map[string]bool{}
	for line := range strings.Lines(log) {
		verb, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		name, inside := strings.CutPrefix(name, r.root+"/")
		if verb != "open" || !inside || strings.HasPrefix(name, "out/") || known[name] {
			continue
		}
		if info, err := os.Stat(filepath.Join(r.root, name)); err == nil && info.Mode().IsRegular() {
			missing[name] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}
