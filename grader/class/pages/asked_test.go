package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
)

func TestARequestIsAToDoWithTheCasesNumbers(t *testing.T) {
	in := sample(t, 20)
	r := in.Class.Records[13]
	cases := r.Task("2").Result.Checks[0].Cases
	known, wrong := cases[0], &cases[1]
	known.Passed, wrong.Passed, wrong.Reason = true, false, "3 of 113 rows are wrong"
	cases[0] = known
	r.Group = []record.Student{in.Class.Records[14].Student}
	ask := func(check, name, receipt string) handin.Request {
		if check == "" {
			check = r.Task("2").Result.Checks[0].ID
		}
		return handin.Request{Task: "2", Check: check, Case: name, Receipt: receipt, Reason: "<b>why</b> " + name}
	}
	mine := handin.Receipt(r.Submission.SHA256).Short()
	r.Submission.Requests = []handin.Request{ask("", known.Name, mine), ask("", wrong.Name, mine), ask("", "", "ffff ffff ffff"), ask("nothing", "", mine)}
	in.Entries = in.Class.Entries()
	rows := reportOf(in).Asked
	assert.Len(t, rows, 4, "once for the group")
	assert.Contains(t, rows[0].Numbers, "the case "+known.Name+": right")
	assert.Contains(t, rows[1].Numbers[len(rows[1].Numbers)-1]+rows[1].Numbers[len(rows[1].Numbers)-2], "3 of 113 rows are wrong")
	assert.Contains(t, rows[1].Command, "/"+wrong.Name+" SEED=4711")
	assert.Contains(t, rows[1].Override, r.Student.ID+",2/")
	assert.Contains(t, rows[2].Odd, "No attempt that could be read has the receipt ffff ffff ffff")
	assert.Contains(t, rows[3].Odd, `no check "nothing"`)
	page := written(t, in)[Report]
	assert.Contains(t, page, "&lt;b&gt;why&lt;/b&gt; "+wrong.Name)
	assert.Contains(t, page, r.Student.ID+","+rows[1].ID+",ANSWER,YOUR NAME")
}
