package look_test

import (
	"archive/zip"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/look"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

func course(t *testing.T) (string, []*rubric.Task) {
	root, err := repo.Root()
	require.NoError(t, err)
	tasks, err := rubric.LoadAll(root)
	require.NoError(t, err)
	return root, tasks
}

// The overlay that puts solutions over the stubs is invisible at run time, so
// the tree's own files are the stubs here.
func TestStubsAreCalledStubs(t *testing.T) {
	root, tasks := course(t)
	z, err := handin.Write(root, filepath.Join(t.TempDir(), "s.zip"), tasks)
	require.NoError(t, err)
	assert.Empty(t, z.Trouble)
	for _, task := range tasks {
		if len(task.Files) == 0 {
			continue
		}
		l, err := look.At(context.Background(), z, root, task, run.Devices{}, rooms.Ops)
		require.NoError(t, err)
		assert.Equal(t, []string{"it is still the stub: nothing is written yet"}, l.Warnings, task.Dir)
	}
}

func TestStubsOfAHalfWrittenFile(t *testing.T) {
	stubs, written := handin.Stubs([]byte(`package x
func New() error { return nil }
func (a A) Softmax() error { if a.no { return attn.ErrNotImplemented }; return nil }
func (a A) Gemm() error { return a.run() }
func Read() Reads { return Reads{} }
func NewPaged() (*Paged, error) { return &Paged{}, nil }
func (p *Paged) Decode() error { return attn.ErrNotImplemented }
`), []string{"Paged"})
	assert.Equal(t, []string{"Softmax", "Read"}, stubs)
	assert.Equal(t, []string{"Gemm"}, written)
	stubs, written = handin.Stubs([]byte("package x\nfunc {"), nil)
	assert.Empty(t, stubs)
	assert.Empty(t, written)
}

func TestZipHoldsWhatIsHandedInAndGivesTheReceiptAgain(t *testing.T) {
	_, tasks := course(t)
	root := t.TempDir()
	put := func(name, text string) {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	put("task1_reference/attention.go", "package reference // does not build")
	put("task2_unfused/kernels.cu", "__global__ void k() {}")
	put("task2_unfused/notes.txt", "mine")
	put("Results.md", "answers")
	out := filepath.Join(root, "out", "s.zip")
	z, err := handin.Write(root, out, tasks)
	require.NoError(t, err)
	assert.True(t, z.Results)
	assert.Contains(t, z.Trouble, "task2_unfused/attention.go is missing, so it is not in the zip")

	r, err := zip.OpenReader(out)
	require.NoError(t, err)
	defer r.Close()
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{"Results.md", "flashlab.json", "task1_reference/attention.go", "task2_unfused/kernels.cu"}, names)
	packed := map[string][]byte{} // what the receipt is of, as it is in the zip
	for _, name := range names[2:] {
		packed[name], err = fs.ReadFile(r, name)
		require.NoError(t, err)
	}
	assert.Equal(t, z.Receipt, handin.Sum(packed))

	first, err := os.ReadFile(out)
	require.NoError(t, err)
	later, err := handin.Write(root, out, tasks)
	require.NoError(t, err)
	second, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	assert.Equal(t, z.Receipt, later.Receipt)
}
