package edition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a release of a few files.
func small(t *testing.T, day int, files, yours map[string]string) fstest.MapFS {
	m := Manifest{Name: fmt.Sprintf("%d-abc", day), Date: time.Date(2027, 1, day, 0, 0, 0, 0, time.UTC), Files: map[string]string{}, Stubs: map[string]string{}}
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
		m.Files[name] = Sum([]byte(text))
	}
	for _, name := range Sorted(yours) {
		tree[name] = &fstest.MapFile{Data: []byte(yours[name])}
		m.Stubs[name] = Sum([]byte(yours[name]))
		m.Yours = append(m.Yours, name)
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	tree[ManifestName] = &fstest.MapFile{Data: text}
	return tree
}

func older(t *testing.T) fstest.MapFS {
	return small(t, 1, map[string]string{"go.mod": "one", "grader/old/gone.go": "x", "nn/same.go": "same", "README.md": "one"},
		map[string]string{"task1_reference/attention.go": "stub", "task2_unfused/kernels.cu": "stub"})
}

func newer(t *testing.T) fstest.MapFS {
	return small(t, 2, map[string]string{"go.mod": "two", "nn/same.go": "same", "README.md": "two", "grader/new/come.go": "#! y"},
		map[string]string{"task1_reference/attention.go": "stub", "task2_unfused/kernels.cu": "another stub", "task3_tiled_go/attention.go": "new task", "Results.md": "blank"})
}

// student is a tree in which somebody works.
func student(t *testing.T) string {
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root, older(t)))
	for name, text := range map[string]string{"task1_reference/attention.go": "mine", "task2_unfused/kernels.cu": "mine too", "Results.md": "answers",
		"README.md": "scribbled on", "task1_reference/notes.txt": "notes"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	return root
}

// all reads a tree but for out/.
func all(t *testing.T, root string) map[string]string {
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if name == "out" {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(filepath.Join(root, name))
			files[name] = string(data)
		} else if err == nil {
			files[name+"/"] = ""
		}
		return err
	}))
	return files
}

func TestUpdateLeavesYoursAlone(t *testing.T) {
	root := student(t)
	u, err := Update(root, newer(t), false)
	require.NoError(t, err)
	files := all(t, root)
	assert.Equal(t, "mine", files["task1_reference/attention.go"])
	assert.Equal(t, "mine too", files["task2_unfused/kernels.cu"])
	assert.Equal(t, "new task", files["task3_tiled_go/attention.go"])
	assert.Equal(t, "two", files["go.mod"])
	assert.Equal(t, "answers", files["Results.md"])
	assert.Equal(t, "notes", files["task1_reference/notes.txt"])
	assert.NotContains(t, files, "grader/old/")
	assert.Equal(t, "2-abc", Name(root))
	assert.Equal(t, []string{"README.md"}, u.Changed)
	assert.Equal(t, []string{"Results.md", "task2_unfused/kernels.cu"}, u.Stubs, "a newer blank lies beside, with the stubs")
	assert.Equal(t, []string{"grader/old/gone.go"}, u.Removed)
	for name, text := range map[string]string{BeforeDir + "/README.md": "scribbled on", StubsDir + "/task2_unfused/kernels.cu": "another stub"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
	info, err := os.Stat(filepath.Join(root, "grader/new/come.go"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&0o100)

	_, err = Update(root, older(t), false)
	assert.ErrorContains(t, err, "older")
	_, err = Update(root, older(t), true)
	require.NoError(t, err)
	assert.Equal(t, "one", all(t, root)["go.mod"])
}

// Broken off after any rename, by an error or by a kill, it leaves what was there.
func TestUpdateIsWholeOrNotAtAll(t *testing.T) {
	for _, broken := range []error{errors.New("disk full"), errKilled} {
		reached := false
		for i := 1; !reached; i++ {
			root := student(t)
			before := all(t, root)
			have, err := Load(os.DirFS(root))
			require.NoError(t, err)
			want, err := Load(newer(t))
			require.NoError(t, err)
			contents, err := want.read(newer(t))
			require.NoError(t, err)
			c := change{root: root, contents: contents, after: func(n int) error {
				if n == i {
					return broken
				}
				return nil
			}}
			var u Updated
			require.NoError(t, c.plan(have, want, &u))
			if err := c.apply(); err == nil {
				reached = true
				require.Greater(t, i, 5)
				break
			}
			if broken == errKilled { // the next one starts by putting things right
				u, err := Update(root, small(t, 3, map[string]string{"out/x": "no"}, nil), false)
				require.Error(t, err)
				require.True(t, u.Recovered)
			}
			require.Equal(t, before, all(t, root), "broken off after %d renames", i)
		}
	}
}

func TestUpdateRefusesWhatIsNotWhole(t *testing.T) {
	for name, spoil := range map[string]func(fstest.MapFS){
		"damaged":        func(f fstest.MapFS) { f["go.mod"] = &fstest.MapFile{Data: []byte("edited")} },
		"not whole":      func(f fstest.MapFS) { delete(f, "nn/same.go") },
		"does not exist": func(f fstest.MapFS) { delete(f, ManifestName) },
	} {
		root := student(t)
		before := all(t, root)
		n := newer(t)
		spoil(n)
		_, err := Update(root, n, false)
		assert.ErrorContains(t, err, name)
		assert.Equal(t, before, all(t, root))
	}
	root := student(t)
	_, err := Update(root, small(t, 2, map[string]string{"task1_reference/attention.go": "theirs"}, nil), false)
	assert.ErrorContains(t, err, "is yours")
	for _, bad := range []string{"../x", "out/x", ".git/config", "/etc/passwd", "Results.md"} {
		_, err := Update(root, small(t, 2, map[string]string{bad: "x"}, nil), false)
		assert.ErrorContains(t, err, "no file of a course", bad)
	}
	_, err = Update(t.TempDir(), newer(t), false)
	assert.ErrorContains(t, err, "is no release")
}
