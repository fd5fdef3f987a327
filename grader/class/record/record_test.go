package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

func sample() *Record {
	at := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	return &Record{
		Student: Student{ID: "s1", Name: "Ada"}, Attempt: 2, Submitted: &at,
		Submission: Submission{File: "a.zip", SHA256: "00"}, Release: "r", Seed: 7,
		Tasks: []Task{{Name: "2", Key: "k", Result: verdict.Verdict{Task: "2", Checks: []verdict.Check{{ID: "softmax",
			Parts: []verdict.Part{{Name: "correctness", Score: 1, Max: 1}}}}, Held: []verdict.Held{{Check: "softmax", Reason: "odd"}}}}},
	}
}

func TestARecordComesBackAsItWas(t *testing.T) {
	out := t.TempDir()
	r := sample()
	require.NoError(t, Write(out, r))
	back, err := Read(filepath.Join(out, Name("s1", 2)))
	require.NoError(t, err)
	assert.Equal(t, r, back)
	again, err := os.ReadFile(filepath.Join(out, Name("s1", 2)))
	require.NoError(t, err)
	require.NoError(t, Write(out, back))
	now, err := os.ReadFile(filepath.Join(out, Name("s1", 2)))
	require.NoError(t, err)
	assert.Equal(t, again, now)
}

func TestRecordsAreSortedAndPartsOfFilesAreNone(t *testing.T) {
	out := t.TempDir()
	for _, id := range []string{"b", "a"} {
		for attempt := 10; attempt > 8; attempt-- {
			r := sample()
			r.Student.ID, r.Attempt = id, attempt
			require.NoError(t, Write(out, r))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(out, Folder, "a", TempPrefix+"9.json"), []byte("{"), 0o644))
	all, err := ReadAll(out)
	require.NoError(t, err)
	var order []string
	for _, r := range all {
		order = append(order, Name(r.Student.ID, r.Attempt))
	}
	assert.Equal(t, []string{"records/a/9.json", "records/a/10.json", "records/b/9.json", "records/b/10.json"}, order)

	none, err := ReadAll(t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestANewerFormatAndABrokenFileAreRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "1.json")
	for text, want := range map[string]string{
		`{"Version": 99}`:            "version 99",
		`{"Version": 1, "Stu`:        "is no whole record",
		`{"Version": 1, "Marks": 3}`: "Marks",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		_, err := Read(name)
		assert.ErrorContains(t, err, want)
	}
}

func TestFileNamesOfStudentsAreSafeAndDiffer(t *testing.T) {
	assert.Equal(t, "ada.lovelace-1", Safe("ada.lovelace-1"))
	seen := map[string]bool{}
	for _, id := range []string{"../etc", "..", "", "A/B", "A_B", "a_b", "A_b", "ü", "ö", strings.Repeat("x", 300), ".part-1"} {
		safe := Safe(id)
		assert.NotContains(t, safe, "/")
		assert.False(t, strings.HasPrefix(safe, "."), safe)
		assert.LessOrEqual(t, len(safe), 100)
		assert.False(t, seen[safe], safe)
		seen[safe] = true
	}
}

func TestTasksKeepTheirOrder(t *testing.T) {
	r := &Record{}
	for _, n := range []registry.Name{"3", "1", "2", "3"} {
		r.Put(Task{Name: n})
	}
	assert.Equal(t, []Task{{Name: "1"}, {Name: "2"}, {Name: "3"}}, r.Tasks)
	assert.Equal(t, "odd", sample().Task("2").Held("softmax").Reason)
	assert.Nil(t, sample().Task("2").Held("gemm"))
	assert.Nil(t, r.Task("9"))
}
