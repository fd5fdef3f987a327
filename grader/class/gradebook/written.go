package gradebook

import (
	"flashlab/internal/harmless"
)

// written are the grades as a gradebook had them: what the next one is compared with.
type written struct {
	Version  int
	Run      int // counts the gradebooks that differ from the one before
	Students []writtenStudent
	Changes  []Change `json:",omitempty"` // of all runs
}

// writtenStudent is one of them. Points are nil where nothing is measured.
type writtenStudent struct {
	ID     string
	Points *float64 `json:",omitempty"`
	Tasks  []writtenTask
}

type writtenTask struct {
	Task    string
	Final   *float64 `json:",omitempty"` // lateness taken
	Attempt int      `json:",omitempty"` // that counts
	Receipt string   `json:",omitempty"`
	Key     string   `json:",omitempty"` // of what it was measured by
	Device  string   `json:",omitempty"`
	Due     string   `json:",omitempty"`
	Days    int      `json:",omitempty"` // late
	Slip    int      `json:",omitempty"`
	Whole   string   `json:",omitempty"` // the override of all of it
	Failed  bool     `json:",omitempty"`
	Items   []writtenItem
}

// writtenItem is a check, or something that a person marks.
type writtenItem struct {
	Name     string   // "softmax"
	Points   *float64 `json:",omitempty"`
	Of       float64
	Override string `json:",omitempty"`
	Mark     string `json:",omitempty"` // by whom, if a person gives it
	Held     bool   `json:",omitempty"`
}

// writtenVersion is that of the format.
const writtenVersion = 1

// snapshot are the entries in that form. Texts are made harmless first, so that they read as they will when they come
// back.
func (c Class) snapshot(entries []Entry) written {
	w := written{Version: writtenVersion}
	for _, e := range entries {
		s := writtenStudent{ID: e.Student.ID, Points: known(e.Points, e.Blank())}
		for _, t := range e.Tasks {
			s.Tasks = append(s.Tasks, c.snapshotTask(e, t))
		}
		w.Students = append(w.Students, s)
	}
	harmless.All(&w)
	return w
}

func (c Class) snapshotTask(e Entry, t Task) writtenTask {
	w := writtenTask{Task: string(t.Rubric.Name), Final: known(t.Final, t.Blank() || e.Attempts == 0), Due: c.When(t.Due), Days: t.Days, Slip: t.Slip}
	if t.Record != nil {
		w.Attempt, w.Receipt = t.Record.Attempt, short(t.Record.Submission.SHA256)
	}
	if t.Part != nil {
		w.Key, w.Device, w.Failed = t.Part.Key, t.Part.Device, t.Part.Failed != ""
	}
	if t.Whole != nil {
		w.Whole = t.Whole.note("").Instructor
	}
	for _, k := range t.Checks {
		one := writtenItem{Name: k.ID, Points: known(k.Points, k.Of == 0 || t.Whole != nil), Of: round(k.Of), Held: k.Held != nil}
		if k.Override != nil {
			one.Override = k.Override.note("").Instructor
		}
		w.Items = append(w.Items, one)
	}
	for _, m := range t.Manual {
		one := writtenItem{Name: m.ID, Of: round(m.Of)}
		if m.Mark != nil {
			one.Points, one.Mark = known(m.Mark.Points, false), first(m.Mark.By, "a person")
		}
		w.Items = append(w.Items, one)
	}
	return w
}

func known(points float64, none bool) *float64 {
	if none {
		return nil
	}
	points = round(points)
	return &points
}
