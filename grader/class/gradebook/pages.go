package gradebook

import (
	"flashlab/grader/class/record"
)

// Last is the latest attempt that any task counts; nil if nothing was handed in.
func (e Entry) Last() *record.Record { return e.record() }

// Remarks are what a student should know about a task in addition to its points.
func (t Task) Remarks() []string { return t.remarks() }
