package pages

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/class/similar"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
)

// instructor is what report.html shows.
type instructor struct {
	Course, Release    string
	Students, HandedIn int
	Median, Low, High  float64 // shares: the middle, and the quartiles
	Hist               histogram
	Tasks              []taskStats
	Strips             []strip
	Hardest            []caseStats
	Kinds              []kindStats
	Held               []heldRow
	Asked              []askedRow
	Trouble            []troubleRow
	Reasons            []reasonRow // of these
	Undecided          []string    // lines for overrides.csv, of the students of whom nothing else counts
	Failed             []troubleRow
	Strangers          []strangerRow
	Stale              []staleRow
	Notices            []string // of the tables and the hand-in times
	Unmarked           int      // students with manual points that nobody has given yet
	Awaiting           int      // students with points that await a person
	AwaitingPoints     float64  // theirs
	Similar            *similar.Result
	Alike, Known       []alikePair // among people, and with the course's own solutions
	Likeness           []likeRow   // to these, and to what releases ship
	Rows               []studentRow
	Changes            []gradebook.Change // the first of them
	MoreChanges        int
	Heat               *heatMap
	Answers            []answersTask
	Sandbox            string
	NotHeld            []string
}

// heldRow is a check that a person has to decide on, or several of one task for the same reason.
type heldRow struct {
	Who, ID, Receipt  string
	Task              registry.Name
	Attempt           int
	Check             string
	Reason, Evidence  string
	Command, Override string
}

type troubleRow struct {
	Who, ID, File, Text string
	Task                registry.Name // "" for the whole submission
	Override            string        // what decides, where no other attempt counts
}

// reasonRow is why hand-ins could not be read, and of how many that is said.
type reasonRow struct {
	Why   string
	Hands int
}

// strangerRow is an id that the roster does not have.
type strangerRow struct {
	Who, ID, Near, File string
}

// staleRow is a task whose rubric wants what was not measured of some students.
type staleRow struct {
	Task     registry.Name
	Students int
	What     string
}

type studentRow struct {
	Who, ID, Link            string
	Points, Of               float64
	Blank                    bool
	Share                    float64
	Cells                    []cell
	Awaiting, GPU, NotGraded float64
	Notes                    string
}

type cell struct {
	Blank  bool
	Points float64
	Mark   string
}

// mostChanges are shown; changes.csv has the others.
const mostChanges = 60

func reportOf(in Input) instructor {
	r := instructor{Course: in.Class.Course.Title, Students: len(in.Entries), Similar: in.Similar, Median: -1, Notices: in.Notices, Sandbox: in.Sandbox, NotHeld: in.NotHeld}
	shares := totals(in.Entries)
	r.Hist = histogramOf(shares)
	r.Low, r.Median, r.High = quartile(shares, 0.25), quartile(shares, 0.5), quartile(shares, 0.75)
	r.Tasks = tasksOf(in)
	r.Strips = strips(r.Tasks, true)
	r.Hardest, r.Kinds = hardest(in.Entries, true, 12), kinds(in.Entries)
	for _, e := range in.Entries {
		if e.Attempts > 0 {
			r.HandedIn++
		}
		if last := e.Last(); last != nil && r.Release == "" {
			r.Release = last.Release
		}
		r.add(in, e)
	}
	r.Changes = in.Changes[:min(len(in.Changes), mostChanges)]
	r.MoreChanges = len(in.Changes) - len(r.Changes)
	r.Heat, r.Answers = heatOf(in.Entries), answersOf(in)
	slices.SortStableFunc(r.Held, func(a, b heldRow) int { return registry.All.Compare(a.Task, b.Task) })
	if in.Similar != nil {
		at := slices.IndexFunc(in.Similar.Pairs, func(p similar.Pair) bool { return p.B.Past == similar.Published }) // these come last
		if at < 0 {
			at = len(in.Similar.Pairs)
		}
		r.Likeness = likenesses(in.Similar)
		free := &room{page: pageLines}
		r.Alike, r.Known = sideBySide(in.Similar.Pairs[:at], in.Texts, free), sideBySide(in.Similar.Pairs[at:], in.Texts, free)
	}
	return r
}

// tasksOf measures every task that is on.
func tasksOf(in Input) (all []taskStats) {
	if len(in.Entries) == 0 {
		return nil
	}
	for at := range in.Entries[0].Tasks {
		all = append(all, measure(in.Class, in.Entries, at))
	}
	return all
}

// strips are the plots of what was measured by the device: speed where there was a GPU, and traffic.
func strips(tasks []taskStats, names bool) (all []strip) {
	add := func(c checkStats, what, unit, axis string, dots []dot, curve rubric.Curve) {
		if len(dots) == 0 {
			return
		}
		if !names {
			dots = slices.Clone(dots)
			for i := range dots {
				dots[i].Who = ""
			}
		}
		all = append(all, stripOf(fmt.Sprintf("Task %s, %s: %s", c.Task, c.Title, what), unit, axis, dots, curve))
	}
	for _, t := range tasks {
		for _, c := range t.Checks {
			add(c, "speed beside the baseline", " × the baseline", "times the baseline's speed", c.Speed, c.SpeedCurve)
		}
	}
	for _, t := range tasks {
		for _, c := range t.Checks {
			add(c, "bytes moved", " × the least", "times the least bytes, in a student's worst case", c.Traffic, c.TrafficCurve)
		}
	}
	return all
}

// add puts one student's row, and what there is to do about them.
func (r *instructor) add(in Input, e gradebook.Entry) {
	row := studentRow{Who: who(e), ID: e.Student.ID, Points: e.Points, Of: e.Of, Blank: e.Blank(), Share: share(e.Points, e.Of),
		Awaiting: e.Awaiting, GPU: e.GPU, NotGraded: e.NotGraded, Notes: strings.Join(e.Notes, "; ")}
	if e.Attempts > 0 {
		row.Link = "students/" + record.Safe(e.Student.ID) + "/" + Feedback
	}
	if e.Awaiting > 0 {
		r.Awaiting++
		r.AwaitingPoints += e.Awaiting
	}
	r.Asked = append(r.Asked, askedOf(in, e, r.Asked)...)
	if e.Unknown {
		r.Strangers = append(r.Strangers, stranger(e))
	}
	unmarked := false
	for _, t := range e.Tasks {
		r.stale(t)
		row.Cells = append(row.Cells, cellOf(e, t))
		for _, m := range t.Manual {
			unmarked = unmarked || m.Mark == nil && e.Attempts > 0
		}
		if t.Part != nil && t.Part.Failed != "" {
			r.Failed = append(r.Failed, troubleRow{Who: who(e), ID: e.Student.ID, File: t.Record.Submission.File, Task: t.Rubric.Name, Text: t.Part.Failed})
		}
		r.Held = append(r.Held, held(in, e, t)...)
	}
	if unmarked {
		r.Unmarked++
	}
	for _, one := range in.Class.Records {
		if one.Trouble != "" && slices.ContainsFunc(one.Members(), func(s record.Student) bool { return s.ID == e.Student.ID }) {
			row := troubleRow{Who: who(e), ID: e.Student.ID, File: one.Submission.File, Text: one.Trouble}
			if e.Unread() {
				row.Override = decide(e)
			}
			r.trouble(row)
		}
	}
	r.Rows = append(r.Rows, row)
}

// trouble adds a hand-in that could not be read, and counts its reason: what stands before the details.
func (r *instructor) trouble(row troubleRow) {
	r.Trouble = append(r.Trouble, row)
	if row.Override != "" && !slices.Contains(r.Undecided, row.Override) {
		r.Undecided = append(r.Undecided, row.Override)
	}
	why := row.Text
	if end := strings.IndexAny(why, ":(."); end >= 0 {
		why = why[:end]
	}
	why = strings.TrimSpace(why)
	at := slices.IndexFunc(r.Reasons, func(one reasonRow) bool { return one.Why == why })
	if at < 0 {
		at = len(r.Reasons)
		r.Reasons = append(r.Reasons, reasonRow{Why: why})
	}
	r.Reasons[at].Hands++
}

func stranger(e gradebook.Entry) strangerRow {
	row := strangerRow{Who: who(e), ID: e.Student.ID}
	if last := e.Last(); last != nil {
		row.File = last.Submission.File
	}
	if n := e.Nearest; n != nil {
		row.Near = n.ID
		if n.Name != "" && n.Name != n.ID {
			row.Near += " (" + n.Name + ")"
		}
	}
	return row
}

// stale counts a task that an earlier rubric measured.
func (r *instructor) stale(t gradebook.Task) {
	if len(t.Stale) == 0 {
		return
	}
	at := slices.IndexFunc(r.Stale, func(s staleRow) bool { return s.Task == t.Rubric.Name })
	if at < 0 {
		at = len(r.Stale)
		r.Stale = append(r.Stale, staleRow{Task: t.Rubric.Name, What: strings.Join(t.Stale, ", ")})
	}
	r.Stale[at].Students++
}

// decide are the lines of overrides.csv that give each task without points its points.
func decide(e gradebook.Entry) string {
	var lines []string
	for _, t := range e.Tasks {
		if t.Blank() {
			lines = append(lines, harmless.Row(e.Student.ID, string(t.Rubric.Name), "POINTS", "REASON", "YOUR NAME", "none"))
		}
	}
	return strings.Join(lines, "\n")
}

func cellOf(e gradebook.Entry, t gradebook.Task) cell {
	c := cell{Blank: t.Blank() || e.Attempts == 0, Points: t.Final}
	switch s := share(t.Final, t.Of); {
	case c.Blank:
		c.Mark = "not"
	case s >= 1-1e-9:
		c.Mark = "full"
	case s > 1e-9:
		c.Mark = "part"
	default:
		c.Mark = "none"
	}
	return c
}
