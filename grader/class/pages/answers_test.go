package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/class/course"
	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
)

func TestAnswersStandBesideTheMarks(t *testing.T) {
	in := sample(t, 20)
	in.Class.Course.Manual = []course.Manual{{ID: "questions", Title: "Answers in Results.md", Task: "2", Points: 1}}
	in.Questions = map[registry.Name][]Question{"2": {{Number: 1, Text: "Why a barrier?", Key: "Because of the key."}, {Number: 2, Text: "How many bytes?"}}}
	for _, r := range in.Class.Records {
		r.Submission.Answers = []record.Answer{{Task: "2", Number: 1, Text: "<script>alert(1)</script> since threads " + r.Student.ID}, {Task: "1", Number: 2, Text: "of another task"}}
	}
	in.Entries = in.Class.Entries()
	all := written(t, in)
	page := all[Report]
	for _, want := range []string{"Why a barrier?", "Because of the key.", "since threads s002", "Not answered.", "s002,questions,POINTS,COMMENT,YOUR NAME"} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "of another task")
	assert.NotRegexp(t, element, page)
	for name, text := range all {
		if name != Report && name != Marks { // both are the instructor's
			assert.NotContains(t, text, "Because of the key", name)
			assert.False(t, strings.Contains(text, "since threads"), name)
		}
	}
}
