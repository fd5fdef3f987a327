package gradebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/class/record"
)

// handedIn is an attempt with a receipt of its own.
func handedIn(student string, n int, receipt string, tasks ...record.Task) *record.Record {
	r := attempt(student, n, "", tasks...)
	r.Submission.SHA256 = strings.Repeat(receipt, 64/len(receipt))
	return r
}

// TestAnOverrideCountsForItsAttempt: bound to a receipt or not, it never counts for files that it was not given for.
// It walks each way to choose the attempt that counts.
func TestAnOverrideCountsForItsAttempt(t *testing.T) {
	first, other := handedIn("a", 1, "11aa", part("1", "x", 0), part("2", "x", 0.2)), handedIn("a", 2, "22bb", part("1", "y", 0), part("2", "x", 0.2))
	third := handedIn("a", 3, "33cc", part("1", "y", 0), part("2", "z", 0.1))
	for _, rule := range []string{"last", "best", "first"} {
		for _, receipt := range []string{"", "11aa11aa11aa"} {
			given := Override{Student: "a", Task: "2", Check: "softmax", Points: 3.5, Reason: "r", By: "kt", Receipt: receipt, place: place{"overrides.csv", 2}}
			c := Class{Course: parsed(t, "tasks = [2]\nattempt = \""+rule+"\"\n"), Rubrics: rubrics, Tables: Tables{Overrides: []Override{given}, Accepted: map[string]string{}}}
			counts := func(all ...*record.Record) float64 { c.Records = all; return grades(c)["a"].Points }
			assert.InDelta(t, 3.5, counts(first), 1e-9, "%s %q", rule, receipt)
			notices := strings.Join(c.Notices(c.Entries()), "\n")
			if receipt == "" {
				assert.Equal(t, "overrides.csv:2: a's 3.5 points for 2/softmax have no receipt, and count only for the attempt with receipt 11aa 11aa 11aa: to record that, write 11aa 11aa 11aa into a column receipt", notices)
			} else {
				assert.Empty(t, notices)
			}
			assert.InDelta(t, 3.5, counts(first, other), 1e-9, "the files of task 2 are the same")
			got := counts(first, other, third)
			notices = strings.Join(c.Notices(c.Entries()), "\n")
			if rule != "last" {
				assert.InDelta(t, 3.5, got, 1e-9, rule)
				assert.NotContains(t, notices, "no longer count")
				continue
			}
			assert.InDelta(t, 0.3, got, 1e-9, "other files are no longer what was looked at")
			assert.Equal(t, "overrides.csv:2: a's 3.5 points for 2/softmax no longer count: they were given for the attempt with receipt 11aa 11aa 11aa, and the attempt with receipt 33cc 33cc 33cc counts now. "+
				"To give them again, write 33cc 33cc 33cc into the column receipt", notices)
			c.Tables.Overrides = append(c.Tables.Overrides, Override{Student: "a", Task: "2", Check: "softmax", Points: 1, Reason: "r", By: "kt", Receipt: "33cc33cc33cc", place: place{"overrides.csv", 3}})
			assert.InDelta(t, 1, counts(first, other, third), 1e-9)
			assert.Empty(t, c.Notices(c.Entries()), "decided anew")
		}
	}
}

// TestDigitsOfTwoAttemptsCountForNeither: two submissions with the same twelve digits are made in seconds, one to be
// looked at and one to hand in later.
func TestDigitsOfTwoAttemptsCountForNeither(t *testing.T) {
	shown, later := handedIn("a", 1, "11aa", part("2", "x", 0.2)), handedIn("a", 2, "11aa", part("2", "y", 0.1))
	later.Submission.SHA256 = shown.Submission.SHA256[:12] + strings.Repeat("b", 52)
	for receipt, want := range map[string]float64{"11aa11aa11aa": 0.3, shown.Submission.SHA256: 0.3, later.Submission.SHA256: 3} {
		c := Class{Course: parsed(t, "tasks = [2]\nattempt = \"last\"\n"), Rubrics: rubrics, Records: []*record.Record{shown, later}, Tables: Tables{Accepted: map[string]string{},
			Overrides: []Override{{Student: "a", Task: "2", Points: 3, Reason: "r", By: "kt", Receipt: receipt, place: place{"overrides.csv", 2}}}}}
		assert.InDelta(t, want, grades(c)["a"].Points, 1e-9, receipt)
		if len(receipt) == 12 {
			assert.Contains(t, strings.Join(c.Notices(c.Entries()), "\n"), "attempts that differ have the receipt 11aa 11aa 11aa")
		}
	}
}

func TestAnOverrideWithoutAnAttempt(t *testing.T) {
	c := Class{Course: parsed(t, "tasks = [2]\n"), Rubrics: rubrics, Tables: Tables{Overrides: []Override{{Student: "a", Task: "2", Points: 3, Reason: "shown", By: "kt", place: place{"overrides.csv", 2}}}, Accepted: map[string]string{}}}
	c.Records = []*record.Record{{Student: record.Student{ID: "a"}, Attempt: 1, Trouble: "it is empty"}}
	assert.InDelta(t, 3, grades(c)["a"].Points, 1e-9)
	assert.Contains(t, strings.Join(c.Notices(c.Entries()), "\n"), "count only for a student without a readable attempt: to record that, write none into a column receipt")
	c.Records = append(c.Records, handedIn("a", 2, "11aa", part("2", "x", 0.2)))
	assert.InDelta(t, 0.6, grades(c)["a"].Points, 1e-9)
	assert.Contains(t, strings.Join(c.Notices(c.Entries()), "\n"), "no longer count")
	c.Tables.Overrides[0].Points = 2.5 // another row: it was given today
	assert.InDelta(t, 2.5, grades(c)["a"].Points, 1e-9)
}
