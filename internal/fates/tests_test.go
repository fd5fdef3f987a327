package fates

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asked is set where this program runs as a package's tests in a tree that a test has made: one test that fails, or
// opens a file, as the variable says.
const asked = "FATES_ASKED"

var pretended = &Tests{Package: "flashlab/slow", Reads: []string{"data/*.txt"}}

func TestMain(m *testing.M) {
	if os.Getenv(asked) != "" {
		os.Exit(pretended.Main(m))
	}
	os.Exit(m.Run())
}

// TestPretended runs only in such a tree. Of its two parts, one is always drawn: see TestASlowTestOnRecordIsSkipped.
func TestPretended(t *testing.T) {
	if os.Getenv(asked) == "" {
		t.Skip("TestASlowTestOnRecordIsSkipped runs it")
	}
	for _, name := range []string{"one", "drawn5"} {
		t.Run(name, func(t *testing.T) {
			pretended.Skip(t, os.Getenv("FATES_WHERE"))
			fmt.Println("ran", name)
			if file := os.Getenv("FATES_OPENS"); file != "" {
				_, err := os.ReadFile(file)
				require.NoError(t, err)
			}
			assert.Empty(t, os.Getenv("FATES_FAILS"))
		})
	}
}

const slowTest = "package slow\n\nimport \"embed\"\n\n//go:embed texts\nvar texts embed.FS\n\nfunc TestPretended(t *T) {}\n"

// slowTree is a tree with a package whose tests are slow. It runs them, with variables, and tells what they printed.
func slowTree(t *testing.T) (root string, runs func(set ...string) (string, bool)) {
	require.Empty(t, os.Getenv(asked), "this program starts itself once, and no further")
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module flashlab\n\ngo 1.26\n", "slow/slow.go": "package slow\n", "slow/slow_test.go": slowTest,
		"slow/texts/a.cu": "a", "slow/testdata/fuzz/FuzzA/1": "1",
		"data/a.txt": "a", "data/other": "b", "out/cache/c": "c",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	log := filepath.Join(t.TempDir(), "log")
	program, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	return root, func(set ...string) (string, bool) {
		cmd := exec.Command(program, "-test.run=^TestPretended$", "-test.testlogfile="+log)
		cmd.Dir = filepath.Join(root, "slow")
		cmd.Env = append(append(os.Environ(), asked+"=1", All+"=1", Fresh+"="), set...)
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
}

func TestASlowTestOnRecordIsSkipped(t *testing.T) {
	require.True(t, Drawn("TestPretended/drawn5", ""), "there is no commit")
	require.False(t, Drawn("TestPretended/one", ""))
	root, runs := slowTree(t)
	ran := func(set ...string) bool {
		said, well := runs(set...)
		require.True(t, well, said)
		require.Contains(t, said, "ran drawn5", "one in ten runs, on record or not")
		return strings.Contains(said, "ran one")
	}
	assert.True(t, ran(), "nothing is on record")
	assert.False(t, ran())
	assert.True(t, ran(Fresh+"=1"))
	assert.False(t, ran())
	for name, text := range map[string]string{
		"slow/slow.go": "package slow\n\nvar changed int\n", "slow/texts/b.cu": "new", "slow/testdata/fuzz/FuzzA/1": "2",
		"slow/slow_test.go": slowTest + "var tested int\n", "go.mod": "module flashlab\n\ngo 1.25\n", "data/a.txt": "changed", "data/b.txt": "new",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
		assert.True(t, ran(), name)
		assert.False(t, ran(), name)
	}
	for name, text := range map[string]string{"slow/slow.go": "package slow\n\n// A remark.\nvar changed int\n", "data/other": "changed"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
		assert.False(t, ran(), name)
	}
	assert.True(t, ran("CXX=another"), "another compiler")
	assert.True(t, ran())
	assert.True(t, ran("FATES_WHERE=another"), "another version of what the test names itself")
	assert.True(t, ran())

	said, well := runs(Fresh+"=1", "FATES_FAILS=1")
	assert.False(t, well, said)
	assert.True(t, ran(), "what failed is struck off")
	assert.False(t, ran())
}

// TestWhatIsGoneIsStruckOff, and what only was not asked for is not.
func TestWhatIsGoneIsStruckOff(t *testing.T) {
	root, runs := slowTree(t)
	path := filepath.Join(root, "slow", ofTests)
	before := strings.Repeat("0", digits) + " TestPretended/two\n" + strings.Repeat("0", digits) + " TestRemoved\n" + strings.Repeat("0", digits) + " TestOther/one\n"
	require.NoError(t, os.WriteFile(path, []byte(before), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "slow/slow_test.go"), []byte(slowTest+"func TestOther(t *T) {}\n"), 0o644))
	names := func() (names []string) {
		k, err := Read(path)
		require.NoError(t, err)
		return slices.Sorted(maps.Keys(k.keys))
	}
	said, well := runs()
	require.True(t, well, said)
	assert.Equal(t, []string{"TestOther/one", "TestPretended/drawn5", "TestPretended/one", "TestPretended/two"}, names(), "only a part has run: -test.run is set")
	r := &Tests{Package: "flashlab/slow", root: root}
	t.Chdir(filepath.Join(root, "slow"))
	require.NoError(t, r.look())
	for _, name := range []string{"TestPretended", "TestPretended/one"} {
		r.asked.Store(name, true)
	}
	run := flag.Lookup("test.run").Value
	was := run.String()
	require.NoError(t, run.Set(""))
	t.Cleanup(func() { _ = run.Set(was) })
	for name, gone := range map[string]bool{"TestPretended/one": false, "TestPretended/two": true, "TestOther/one": false, "TestRemoved": true} {
		assert.Equal(t, gone, r.isGone(name), name)
	}
}

// TestWhatATestOpensDecides: a file that the hash leaves out is named, and the tests fail.
func TestWhatATestOpensDecides(t *testing.T) {
	root, runs := slowTree(t)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "slow/testdata"))) // the record begins it
	for _, file := range []string{"../data/a.txt", "slow.go", "../out/cache/c", "/etc/passwd"} {
		said, well := runs("FATES_OPENS="+file, Fresh+"=1")
		assert.True(t, well, said)
	}
	said, well := runs("FATES_OPENS=../data/other", Fresh+"=1")
	assert.False(t, well)
	assert.Contains(t, said, "flashlab/slow: the tests open data/other, which their record's hash leaves out: name it in Reads")
}

// TestWhatAsksUnderAnothersNameIsRefused: testing numbers tests of one name by the order in which they run.
func TestWhatAsksUnderAnothersNameIsRefused(t *testing.T) {
	for name, refused := range map[string]bool{"TestA/g++": false, "TestA/g++#01": true, "TestA/#00": true, "TestA/x#01/y": true, "TestA/#1": false} {
		assert.Equal(t, refused, renamed.MatchString(name), name)
	}
}
