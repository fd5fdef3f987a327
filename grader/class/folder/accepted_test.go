package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/pages"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/verdict"
)

// TestAnOverrideWithoutAReceiptIsAcceptedOnce: the batch's folder remembers for which attempt.
func TestAnOverrideWithoutAReceiptIsAcceptedOnce(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "course.toml"), []byte("tasks = [1]\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overrides.csv"), []byte("student,check,points,reason,by\na,1,1.5,shown,kt\n"), 0o644))
	handIn := func(n int, files string) {
		r := &record.Record{Student: record.Student{ID: "a"}, Attempt: n, Submission: record.Submission{SHA256: strings.Repeat(files, 16)}}
		r.Put(record.Task{Name: "1", Files: files, Result: verdict.Verdict{Task: "1"}})
		require.NoError(t, record.Write(out, r))
	}
	gradebook := func() (printed, table string) {
		f := Folder{Out: out, Course: filepath.Join(dir, "course.toml")}
		_, all, settings, err := f.Open()
		require.NoError(t, err)
		class, err := f.Class(all, settings)
		require.NoError(t, err)
		printed = captured(t, func() { require.NoError(t, f.Write(class)) })
		data, err := os.ReadFile(filepath.Join(out, "gradebook.csv"))
		require.NoError(t, err)
		return printed, string(data)
	}
	handIn(1, "11aa")
	printed, table := gradebook()
	assert.Contains(t, printed, "note: overrides.csv:2: a's 1.5 points for 1 have no receipt, and count only for the attempt with receipt 11aa 11aa 11aa")
	report, err := os.ReadFile(filepath.Join(out, pages.Report))
	require.NoError(t, err)
	assert.Contains(t, string(report), "have no receipt, and count only for the attempt with receipt 11aa 11aa 11aa", "the page says so, too")
	assert.Contains(t, table, ",1.5,")
	handIn(2, "22bb")
	printed, table = gradebook()
	assert.Contains(t, printed, "and the attempt with receipt 22bb 22bb 22bb counts now")
	assert.NotContains(t, table, ",1.5,")
}
