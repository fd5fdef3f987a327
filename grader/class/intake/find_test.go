package intake

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// class makes a folder with these files; names that end in a slash are folders.
func class(t *testing.T, names ...string) string {
	dir := t.TempDir()
	for _, n := range names {
		path := filepath.Join(dir, n)
		if n[len(n)-1] == '/' {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
	}
	return dir
}

func roster(t *testing.T, text string) *Roster {
	r, err := ReadRoster(saved(t, "roster.csv", []byte(text)))
	require.NoError(t, err)
	return r
}

// short is an item in one line.
func short(items []Item) (lines []string) {
	for _, i := range items {
		line := i.Student.ID + " " + string(rune('0'+i.Attempt)) + " " + i.File
		if i.MarkedLate {
			line += " late"
		}
		if i.Trouble != "" {
			line += " trouble"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAPlainFolder(t *testing.T) {
	dir := class(t, "ada.zip", "bob/task1_reference/attention.go", "cyd/1.zip", "cyd/2.tar.gz", "cyd/10.zip", ".DS_Store", "notes.txt", "dan.rar")
	items, err := Find(dir, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"ada 1 ada.zip", "bob 1 bob", "cyd 1 cyd/1.zip", "cyd 2 cyd/2.tar.gz", "cyd : cyd/10.zip", "dan.rar 1 dan.rar"}, short(items))

	items, err = Find(dir, roster(t, "id,name,folder\n17,Ada Lovelace,ada\n18,Bob,bob\n"))
	require.NoError(t, err)
	assert.Equal(t, "17 1 ada.zip", short(items)[0])
	assert.Equal(t, "Ada Lovelace", items[0].Student.Name)
}

func TestCanvasNames(t *testing.T) {
	dir := class(t, "lovelaceada_101_9001_work.zip", "lovelaceada_101_9002_work-1.zip", "byronbob_LATE_102_9003_flashlab.tar.gz",
		"cyd_103_9004_attention.go", "cyd_103_9004_kernels.cu")
	items, err := Find(dir, roster(t, "id,name,canvas\nu-ada,Ada,101\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"102 1 byronbob_LATE_102_9003_flashlab.tar.gz late",
		"103 1 cyd_103_9004_attention.go trouble",
		"u-ada 1 lovelaceada_101_9001_work.zip",
		"u-ada 2 lovelaceada_101_9002_work-1.zip",
	}, short(items))
	assert.Contains(t, items[1].Trouble, "make pack")
}

func TestMoodleNames(t *testing.T) {
	dir := class(t, "Ada Lovelace_4711_assignsubmission_file_/work.zip", "Bob Kern_4712_assignsubmission_file/task1_reference/attention.go", "Cyd_Moor_4713_assignsubmission_file_work.zip",
		"Dan_4714_assignsubmission_file_a.go", "Dan_4714_assignsubmission_file_b.go", "Ada Lovelace_4711_assignsubmission_onlinetext_/onlinetext.html", "Eve_4719_assignsubmission_file_/work.zip")
	known := roster(t, "id,name,canvas,moodle\nu-ada,Ada,4712,4711\nu-bob,Bob,,Participant 4712\nu-cyd,Cyd,4719,4713\n")
	items, err := Find(dir, known)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"moodle-4714 1 Dan_4714_assignsubmission_file_a.go trouble",
		"moodle-4719 1 Eve_4719_assignsubmission_file_",
		"u-ada 1 Ada Lovelace_4711_assignsubmission_file_",
		"u-bob 1 Bob Kern_4712_assignsubmission_file",
		"u-cyd 1 Cyd_Moor_4713_assignsubmission_file_work.zip",
	}, short(items), "by the moodle column alone, whatever Canvas's numbers are")
	_, err = ReadRoster(saved(t, "roster.csv", []byte("id,moodle\na,x\n")))
	assert.ErrorContains(t, err, "roster.csv:2: moodle \"x\"")
}

const metadata = `---
submission_2:
  :submitters:
  - :name: Ada Lovelace
    :sid: '007'
    :email: ada@example.org
  - :name: Bob
    :email: bob@example.org
  :created_at: 2026-11-02 10:00:00.5 Z
  :score: 0.0
submission_3:
  :submitters:
  - :name: Cyd
    :sid: '9'
    :email: cyd@example.org
  :created_at: 2026-11-03 09:00:00 Z
`

func TestGradescopesExport(t *testing.T) {
	dir := class(t, "submission_2/task1_reference/attention.go")
	require.NoError(t, os.WriteFile(filepath.Join(dir, gradescopeFile), []byte(metadata), 0o644))
	items, err := Find(dir, roster(t, "id,email\nb,BOB@example.org\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"007 1 submission_2", "9 1 submission_3 trouble"}, short(items))
	require.Len(t, items[0].Group, 1)
	assert.Equal(t, "b", items[0].Group[0].ID)
	assert.Equal(t, "2026-11-02T10:00:00Z", items[0].Submitted.Truncate(time.Second).Format(time.RFC3339))
}

func TestFoldersThatHoldNoClass(t *testing.T) {
	for dir, want := range map[string]string{
		"/nonexistent":               "no such folder",
		saved(t, "class.zip", nil):   "unpack the export",
		class(t, "notes.txt", ".x/"): "holds no submission",
	} {
		_, err := Find(dir, nil)
		assert.ErrorContains(t, err, want)
	}
}

func TestRosters(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "is empty",
		"name\nAda":             `no column "id"`,
		"id,name\n1,Ada,x\n":    "roster.csv:2: 3 cells",
		"id,name\n,Ada\n":       "the id is empty",
		"id,login\n1,x\n2,X\n":  `"X" already stands for 1`,
		"id,name\n1,\"Ada\n2,x": "roster.csv",
	} {
		_, err := ReadRoster(saved(t, "roster.csv", []byte(text)))
		assert.ErrorContains(t, err, want, text)
	}
	r := roster(t, "\ufeffID, Name ,email\n# comment\n1,Ann,a@x\n\n2,Ann,b@x\n")
	s, ok := r.Find("nobody", "B@X")
	assert.True(t, ok)
	assert.Equal(t, "2", s.ID)
	_, ok = r.Find("Ann")
	assert.False(t, ok, "two go by this name")
}
