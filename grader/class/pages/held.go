package pages

import (
	"fmt"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/harmless"
)

// held lists what awaits a person in a task, with the command that shows it again.
func held(in Input, e gradebook.Entry, t gradebook.Task) (rows []heldRow) {
	if t.Part == nil {
		return nil
	}
	for _, k := range t.Checks {
		row := heldRow{Who: who(e), ID: e.Student.ID, Task: t.Rubric.Name, Check: k.ID, Attempt: t.Record.Attempt,
			Receipt: handin.Receipt(t.Record.Submission.SHA256).Short()}
		only := k.ID
		if k.Held == nil {
			continue
		}
		row.Reason, row.Evidence = k.Held.Reason, k.Held.Evidence
		if c := measured(t, k.ID); c != nil {
			for _, one := range c.Cases {
				if one.Suspect != "" {
					only = k.ID + "/" + one.Name
					break
				}
			}
		}
		row.Command = again(in, t, only)
		row.Override = harmless.Row(e.Student.ID, string(t.Rubric.Name)+"/"+k.ID, "POINTS", "REASON", "YOUR NAME", row.Receipt)
		if n := len(rows); n > 0 && rows[n-1].Reason == row.Reason { // one thing to look at, not several
			rows[n-1].Check += ", " + row.Check
			rows[n-1].Override += "\n" + row.Override
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// measured is a check as the grader left it.
func measured(t gradebook.Task, id string) *verdict.Check {
	for i := range t.Part.Result.Checks {
		if t.Part.Result.Checks[i].ID == id {
			return &t.Part.Result.Checks[i]
		}
	}
	return nil
}

// again is the command that repeats one case of a submission. An instructor pastes it into a shell, so
// anything in it that comes from a stranger passes through record.Safe or quote.
func again(in Input, t gradebook.Task, only string) string {
	student := record.Safe(t.Record.Student.ID)
	look := "out/look/" + student
	variant := ""
	if t.Rubric.Variant != "" {
		variant = " VARIANT=" + quote(t.Rubric.Variant)
	}
	return fmt.Sprintf("go run ./grader unpack STUDENT=%s ATTEMPT=%d O=%s %s && go run ./grader grade TASK=%s%s CASE=%s SEED=%d SANDBOX=auto SUBMISSION=%s",
		quote(student), t.Record.Attempt, quote(look), quote(first(in.Out, "OUT")), t.Rubric.Name, variant, quote(only), t.Part.Result.Seed, quote(look))
}
