package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

// TestOnlyWhatWasGradedIsShown: a submission that has changed since, or is gone, has no files for a page.
func TestOnlyWhatWasGradedIsShown(t *testing.T) {
	dir := t.TempDir()
	f := Folder{Out: filepath.Join(dir, "out")}
	_, all, _, err := f.Open()
	require.NoError(t, err)
	name := filepath.Join(dir, "ada", "task2_unfused", "kernels.cu")
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte("// as graded\n"), 0o644))
	content, err := intake.Read(filepath.Join(dir, "ada"), intake.WantedOf(all))
	require.NoError(t, err)
	one := record.Submission{File: "ada", SHA256: string(content.Receipt)}
	here := batch.Settings{Submissions: dir}

	files := filesOf(all, here)
	assert.Equal(t, "// as graded\n", string(files(one)["task2_unfused/kernels.cu"]))
	assert.Nil(t, files(record.Submission{}), "nothing was handed in")
	assert.NotNil(t, files(one))
	assert.Nil(t, files(record.Submission{File: "blaise", SHA256: one.SHA256}))

	require.NoError(t, os.WriteFile(name, []byte("// changed\n"), 0o644))
	assert.Nil(t, filesOf(all, here)(one))
	assert.Nil(t, filesOf(all, batch.Settings{}), "where the submissions are is not known")
}
