package intake

import (
	"fmt"
	"regexp"

	"flashlab/grader/class/record"
)

// moodleName is how Moodle names a submission: the student, the number that its grading worksheet calls
// 'Participant 4711', and the plugin. In a download without folders the student's own name for the file follows,
// in which moodleMark may occur once more: then Moodle's part could end at either.
var (
	moodleName = regexp.MustCompile(`^(.+?)_(\d+)_assignsubmission_(file|onlinetext)(?:_(.*))?$`)
	moodleMark = regexp.MustCompile(`_\d+_assignsubmission_(?:file|onlinetext)`)
)

// moodleNumber is the number in a roster's column or in the worksheet, whatever the language: 'Participant 4711'.
var moodleNumber = regexp.MustCompile(`(\d+)\s*$`)

// MoodleKey is the name by which a roster knows a student's number in Moodle; "" if there is none in
// the cell. Canvas's numbers are others, so these are kept apart.
func MoodleKey(cell string) string {
	if m := moodleNumber.FindStringSubmatch(cell); m != nil {
		return "moodle:" + m[1]
	}
	return ""
}

// moodle takes the student from the name. It tells whether that is a submission: online text is not. loose are students
// whose files are not in an archive: one of them says so.
func (f *found) moodle(m []string, file bool, loose map[string]bool) bool {
	if m[3] == "onlinetext" {
		return false
	}
	key := MoodleKey(m[2])
	f.Student = record.Student{ID: "moodle-" + m[2], Name: m[1]} // the number alone may be another student's in Canvas
	f.names = []string{key, f.Student.ID}
	if file && archive(m[4]) == "" {
		if loose[key] {
			return false
		}
		loose[key] = true
		f.Trouble = fmt.Sprintf("%s is no archive: hand in the zip that `make pack` writes", m[4])
	}
	return true
}
