package gradebook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

// TestEachRowIsUsedOrTold: of each table one row that is used, and one that is nobody's.
func TestEachRowIsUsedOrTold(t *testing.T) {
	dir := t.TempDir()
	c := Class{Course: parsed(t, text0+"[[manual]]\nid = \"q\"\ntask = 1\npoints = 0.5\n"), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", part("1", "x", 1), part("2", "x", 1))}}
	c.Records[0].Group = []record.Student{{ID: "b"}}
	for name, text := range map[string]string{
		"extensions.csv": "student,task,until\nb,2,2026-11-20 12:00\nx,2,2026-11-20 12:00\n",
		"overrides.csv":  "student,check,points,reason,by,receipt\na,2/softmax,1,r,kt,abababababab\nx,2/softmax,1,r,kt,abababababab\n",
		"manual.csv":     "student,item,points\na,q,0.5\nx,q,0.5\n",
		"times.csv":      "student,attempt,submitted\nb,1,2026-11-10 11:00\nx,1,2026-11-10 11:00\na,2,2026-11-10 11:00\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	var err error
	c.Tables, err = ReadTables(dir, c.Course, nil, rubrics)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"times.csv:3: the row is nobody's, and not used: x has no attempt", "times.csv:4: the row is nobody's, and not used: a has attempt 1 alone",
		"extensions.csv:3: the row is not used: nobody here has the id x", "overrides.csv:3: the row is not used: nobody here has the id x", "manual.csv:3: the row is not used: nobody here has the id x",
	}, c.Told(c.Entries()))
	assert.Equal(t, at("2026-11-10 11:00").UTC(), c.Records[0].Submitted.UTC(), "the time is the group's")
}

func TestWithoutATimeThereIsSomethingToDo(t *testing.T) {
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", part("1", "x", 1)), attempt("b", 1, "2026-11-09 12:00", part("1", "x", 1))}}
	entries := c.Entries()
	assert.Equal(t, []string{"when it was handed in is not known of 1 student, so nothing was taken for being late: a. Put the times into times.csv, or use Moodle's grading worksheet, which has them"}, c.Told(entries))
	assert.Contains(t, entries[0].Notes, "when it was handed in is not known, so nothing was taken for being late (times.csv)")
	c.Course = parsed(t, "")
	assert.Empty(t, c.Told(c.Entries()), "without a deadline nobody asks")
}

func TestMoodlesOwnTimes(t *testing.T) {
	dir := t.TempDir()
	name, rosterName := filepath.Join(dir, "moodle.csv"), filepath.Join(dir, "roster.csv")
	require.NoError(t, os.WriteFile(name, []byte("Identifier,Full name,Grade,Last modified (submission)\n"+
		"Participant 4711,Ada,,\"Wednesday, 11 November 2026, 12:16\u202fPM\"\nParticipant 4712,Bob,,\"Tuesday, November 10, 2026, 12:15 PM\"\nParticipant 4713,Cyd,,-\nParticipant 4714,Dan,,gestern\n"), 0o644))
	require.NoError(t, os.WriteFile(rosterName, []byte("id,moodle\nada,4711\nbob,4712\ncyd,4713\ndan,4714\n"), 0o644))
	c := Class{Course: parsed(t, strings.Replace(text0, "UTC", "Europe/Berlin", 1)), Rubrics: rubrics}
	var err error
	c.Roster, err = intake.ReadRoster(rosterName)
	require.NoError(t, err)
	c.Tables.Moodle, c.Tables.Unread, err = MoodleTimes(name, c.Course)
	require.NoError(t, err)
	for _, id := range []string{"ada", "bob", "cyd", "dan"} {
		c.Records = append(c.Records, attempt(id, 1, "", part("1", "old", 0)), attempt(id, 2, "", part("1", "x", 1), part("2", "x", 1)))
	}
	c.Tables.Times = []Time{{Student: "bob", Attempt: 2, At: time.Date(2026, 11, 11, 11, 0, 0, 0, time.UTC)}}
	all := grades(c)
	assert.InDelta(t, 4, all["ada"].Points, 1e-9, "two days late, by Berlin's clocks")
	assert.InDelta(t, 4.5, all["bob"].Points, 1e-9, "times.csv has the last word")
	assert.InDelta(t, 5, all["cyd"].Points, 1e-9)
	assert.Nil(t, c.Records[0].Submitted, "the worksheet has the last attempt's time alone")
	told := c.Told(c.Entries())
	require.Len(t, told, 2)
	assert.Contains(t, told[0], `moodle.csv:5: the time "gestern" cannot be read: put it into times.csv`)
	assert.Contains(t, told[1], "of 2 students, so nothing was taken for being late: cyd, dan.")
}
