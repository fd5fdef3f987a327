package pages

import (
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
)

// answersTask is what students answered to a task's questions, for a person who marks it.
type answersTask struct {
	Task     registry.Name
	Title    string
	Items    []string // of course.toml
	Students []answersRow
	Unmarked int
}

// answersRow is one student's answers, beside the marks that they have.
type answersRow struct {
	Who, ID string
	Marks   []feedbackMark
	Marked  bool
	Answers []answered
	None    bool   // not one
	Line    string // for manual.csv
}

type answered struct {
	Question
	Answer string // "" where there is none
}

// answersOf are the answers to the questions of each task that has something to mark.
func answersOf(in Input) (all []answersTask) {
	at := map[registry.Name]int{}
	for _, m := range in.Class.Course.Items() {
		i, seen := at[m.Task]
		if !seen {
			i = len(all)
			at[m.Task] = i
			all = append(all, answersTask{Task: m.Task})
		}
		all[i].Items = append(all[i].Items, first(m.Title, m.ID))
	}
	for i := range all {
		for _, e := range in.Entries {
			for _, t := range e.Tasks {
				if t.Rubric.Name != all[i].Task || e.Attempts == 0 {
					continue
				}
				all[i].Title = t.Rubric.Title
				row := rowOf(in, e, t)
				if !row.Marked {
					all[i].Unmarked++
				}
				all[i].Students = append(all[i].Students, row)
			}
		}
	}
	return all
}

func rowOf(in Input, e gradebook.Entry, t gradebook.Task) answersRow {
	row := answersRow{Who: who(e), ID: e.Student.ID, Marked: true, None: true}
	for _, m := range t.Manual {
		mark := feedbackMark{Title: first(m.Title, m.ID), Of: m.Of}
		if m.Mark != nil {
			mark.Points, mark.Comment, mark.Given = m.Mark.Points, m.Mark.Comment, true
		} else {
			row.Marked = false
			row.Line += harmless.Row(e.Student.ID, m.ID, "POINTS", "COMMENT", "YOUR NAME") + "\n"
		}
		row.Marks = append(row.Marks, mark)
	}
	var given []record.Answer
	if t.Record != nil {
		given = t.Record.Submission.Answers
	}
	for _, q := range in.Questions[t.Rubric.Name] {
		one := answered{Question: q}
		for _, a := range given {
			if a.Task == t.Rubric.Name && a.Number == q.Number {
				one.Answer, row.None = a.Text, false
			}
		}
		row.Answers = append(row.Answers, one)
	}
	return row
}
