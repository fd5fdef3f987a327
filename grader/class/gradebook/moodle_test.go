package gradebook

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

const worksheet = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments\n" +
	"Participant 4711,Ada,ada@x,Submitted,,100.00,\nParticipant 4712,=Bob,bob@x,Submitted,,100.00,well done\n"

func TestMoodleGetsItsWorksheetBack(t *testing.T) {
	dir := t.TempDir()
	name, rosterName := filepath.Join(dir, "moodle.csv"), filepath.Join(dir, "roster.csv")
	require.NoError(t, os.WriteFile(name, []byte(worksheet), 0o644))
	require.NoError(t, os.WriteFile(rosterName, []byte("id,name,moodle\nada,Ada,4711\ncyd,Cyd,4713\n"), 0o644))
	roster, err := intake.ReadRoster(rosterName)
	require.NoError(t, err)
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Roster: roster, Records: []*record.Record{attempt("ada", 1, "", part("2", "x", 1)), attempt("moodle-4712", 1, "", part("2", "x", 0.5))}}
	table, notes, err := c.Moodle(name, c.Entries())
	require.NoError(t, err)
	assert.Equal(t, []string{"moodle.csv has 100 as its maximum grade, and the course is worth 6: set that in Moodle first", "cyd is not in moodle.csv"}, notes)
	all := rows(t, table)
	assert.Equal(t, []string{"Participant 4711", "Ada", "ada@x", "Submitted", "3", "100.00", ""}, all[1])
	assert.Equal(t, []string{"Participant 4712", "'=Bob", "bob@x", "Submitted", "1.5", "100.00", "well done"}, all[2])

	table, _, err = c.Moodle("", c.Entries())
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"Identifier", "Full name", "Email address", "Grade"}, {"Participant 4711", "Ada", "", "3"}, {"Participant 4713", "Cyd", "", ""}}, rows(t, table), "of the roster's column")

	c.Roster, err = MoodleRoster(name)
	require.NoError(t, err)
	s, ok := c.Roster.Find("moodle:4712")
	assert.True(t, ok)
	assert.Equal(t, "bob@x", s.ID)
	c.Roster = nil
	table, _, err = c.Moodle("", c.Entries())
	require.NoError(t, err)
	assert.Nil(t, table, "nobody asked for it")
}
