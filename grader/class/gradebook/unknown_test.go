package gradebook

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

func TestAnIdThatNoRosterHasIsNamedWithTheNearest(t *testing.T) {
	roster := &intake.Roster{}
	for _, s := range []record.Student{{ID: "s12345", Name: "Ada Lovelace"}, {ID: "s12354", Name: "Bob Kern"}, {ID: "s99999", Name: "Cyd Moor"}} {
		require.NoError(t, roster.Add(s))
	}
	records := []*record.Record{attempt("s12345", 1, "", part("1", "x", 1)), attempt("s12534", 1, "", part("1", "x", 1)), attempt("moor_cyd", 1, "", part("1", "x", 1)), attempt("qqq", 1, "", part("1", "x", 1))}
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Roster: roster, Records: records}
	all := grades(c)
	assert.False(t, all["s12345"].Unknown)
	for id, want := range map[string]string{"s12534": "s12354", "moor_cyd": "s99999"} {
		require.True(t, all[id].Unknown, id)
		require.NotNil(t, all[id].Nearest, id)
		assert.Equal(t, want, all[id].Nearest.ID, "not s12345, who handed in")
	}
	assert.Equal(t, "no roster has this id; the nearest that handed in nothing is s12354 (Bob Kern)", all["s12534"].Notes[0])
	assert.True(t, all["qqq"].Unknown)
	assert.Nil(t, all["qqq"].Nearest)
	// The roster is mended: what was graded is the student's, and counts once if it is graded again.
	mended := &intake.Roster{}
	require.NoError(t, mended.Add(record.Student{ID: "s12354", Name: "Bob Kern"}, "s12534"))
	again := attempt("s12354", 1, "", part("1", "x", 1))
	again.Submission.File, records[1].Submission.File = "x.zip", "x.zip"
	c.Roster, c.Records = mended, append(records, again)
	all = grades(c)
	assert.NotContains(t, all, "s12534")
	assert.Equal(t, 1, all["s12354"].Attempts)
	assert.InDelta(t, 2, all["s12354"].Points, 1e-9)
	c.Roster = nil
	assert.False(t, grades(c)["qqq"].Unknown, "without a roster there are no strangers")
}
