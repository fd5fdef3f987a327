package handin_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

var tasks = []*rubric.Task{
	{Dir: "task2_unfused", Files: []string{"kernels.cu", "attention.go"}},
	{Dir: "task1_reference", Files: []string{"attention.go"}},
	{Dir: "task7_gpt2"},
}

func of(t *testing.T, files map[string]string) handin.Receipt {
	hand := fstest.MapFS{}
	for name, text := range files {
		hand[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r, err := handin.Of(hand, tasks)
	require.NoError(t, err)
	return r
}

func TestReceiptHangsOnPermittedFilesAlone(t *testing.T) {
	mine := map[string]string{"task1_reference/attention.go": "package reference", "task2_unfused/kernels.cu": "x"}
	r := of(t, mine)
	assert.Len(t, string(r), 64)
	assert.Regexp(t, `^[0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{4}$`, r.Short())

	mine["task2_unfused/source.go"] = "not mine to change"
	mine["Results.md"] = "answers"
	assert.Equal(t, r, of(t, mine))

	mine["task2_unfused/attention.go"] = ""
	assert.NotEqual(t, r, of(t, mine), "an empty file is more than none")
}

func TestReceiptTellsNamesFromContents(t *testing.T) {
	a := handin.Sum(map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	assert.NotEqual(t, a, handin.Sum(map[string][]byte{"a": []byte("1b\x001\x002")}))
	assert.NotEqual(t, a, handin.Sum(map[string][]byte{"a": []byte("2"), "b": []byte("1")}))
}

func TestReceiptIsTheSameOfFolderAndZip(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join("task1_reference", "attention.go")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "task1_reference"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("package reference\n"), 0o600))
	folder, err := handin.Of(os.DirFS(dir), tasks)
	require.NoError(t, err)

	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("task1_reference/attention.go")
	require.NoError(t, err)
	_, err = f.Write([]byte("package reference\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	zipped, err := handin.Of(z, tasks)
	require.NoError(t, err)
	assert.Equal(t, folder, zipped)
}

func TestReceiptFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "task1_reference"), 0o755))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "task1_reference", "attention.go")))
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "task2_unfused")))
	r, err := handin.Of(os.DirFS(dir), tasks)
	require.NoError(t, err)
	assert.Equal(t, handin.Sum(nil), r)
}
