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

// TestEachRowIsUsedOrReported: of each table one row that is used, one that is nobody's, and those that change nothing.
func TestEachRowIsUsedOrReported(t *testing.T) {
	dir := t.TempDir()
	c := Class{Course: parsed(t, text0+"[[manual]]\nid = \"q\"\ntask = 1\npoints = 0.5\n"), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", part("1", "x", 1), part("2", "x", 1))}}
	c.Records[0].Group = []record.Student{{ID: "b"}}
	for name, text := range map[string]string{
		"extensions.csv": "student,task,until\nb,2,2026-11-20 12:00\nx,2,2026-11-20 12:00\nb,2,2026-01-01 12:00\nb,b1,2026-11-20 12:00\n",
		"overrides.csv":  "student,check,points,reason,by,receipt\na,2/softmax,1,r,kt,abababababab\na,2/softmax,1,r,kt,abababababab\nx,2/softmax,1,r,kt,abababababab\n",
		"manual.csv":     "student,item,points\na,q,0.5\nx,q,0.5\n",
		"times.csv":      "student,attempt,submitted\nb,1,2026-11-10 10:00\nb,1,2026-11-10 11:00\nx,1,2026-11-10 11:00\na,2,2026-11-10 11:00\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	var err error
	c.Tables, err = ReadTables(dir, c.Course, nil, rubrics)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"times.csv:2: ignored: times.csv:3 is about the same, and the last one counts",
		"times.csv:4: ignored: x has no attempt", "times.csv:5: ignored: a has only attempt 1",
		"extensions.csv:3: ignored: no student has the id x", "extensions.csv:4: ignored: it ends no later than the deadline",
		"extensions.csv:5: ignored: task b1 is not graded in this course",
		"overrides.csv:2: ignored: overrides.csv:3 is about the same, and the last one counts",
		"overrides.csv:4: ignored: no student has the id x", "manual.csv:3: ignored: no student has the id x",
	}, c.Notices(c.Entries()))
	assert.Equal(t, at("2026-11-10 11:00").UTC(), c.Records[0].Submitted.UTC(), "the time is the group's")
}

func TestWithoutATimeThereIsSomethingToDo(t *testing.T) {
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", part("1", "x", 1)), attempt("b", 1, "2026-11-09 12:00", part("1", "x", 1))}}
	entries := c.Entries()
	assert.Equal(t, []string{"the hand-in time of 1 student is unknown, so nothing was deducted for lateness: a. Add the times to times.csv, or give Moodle's grading worksheet, which has them"}, c.Notices(entries))
	assert.Contains(t, entries[0].Notes, "hand-in time unknown, so nothing was deducted for lateness (times.csv)")
	c.Records = append(c.Records, &record.Record{Student: record.Student{ID: "c"}, Attempt: 1, Trouble: "it is empty"})
	assert.Equal(t, 1, len(c.Notices(c.Entries())), "of what could not be read nothing is asked")
	c.Course = parsed(t, "")
	assert.Empty(t, c.Notices(c.Entries()), "without a deadline nobody asks")
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
	told := c.Notices(c.Entries())
	require.Len(t, told, 2)
	assert.Contains(t, told[0], `moodle.csv:5: cannot read the time "gestern": add it to times.csv`)
	assert.Contains(t, told[1], "of 2 students is unknown, so nothing was deducted for lateness: cyd, dan.")
}
