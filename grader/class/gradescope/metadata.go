package gradescope

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
)

// metadata is what we need from Gradescope's submission_metadata.json.
type metadata struct {
	Created  time.Time `json:"created_at"`
	Previous []any     `json:"previous_submissions"`
	Users    []struct {
		ID    json.Number
		Name  string
		Email string
		SID   string
	}
}

// Item is the submission in a folder, and whose it is. Without a file of metadata it is nobody's.
func Item(submission, file string) (intake.Item, error) {
	i := intake.Item{Student: record.Student{ID: "submission"}, Attempt: 1, Path: submission, File: "submission"}
	if file == "" {
		return i, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return i, err
	}
	var m metadata
	if err := json.Unmarshal(data, &m); err != nil {
		return i, fmt.Errorf("%s: %w", file, err)
	}
	i.Attempt = len(m.Previous) + 1
	if !m.Created.IsZero() {
		at := m.Created.UTC()
		i.Submitted = &at
	}
	for n, u := range m.Users {
		s := record.Student{ID: cmp.Or(u.SID, u.Email, u.ID.String()), Name: u.Name, Email: u.Email}
		if n == 0 {
			i.Student = s
		} else {
			i.Group = append(i.Group, s)
		}
	}
	return i, nil
}
