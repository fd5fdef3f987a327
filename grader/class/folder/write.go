package folder

import (
	"path/filepath"
	"slices"
	"time"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/pages"
	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// Write makes the grades of the records, and tells what it wrote.
func (f Folder) Write(class gradebook.Class) error {
	var err error
	if class.Records, err = record.ReadAll(f.Out); err != nil {
		return err
	}
	entries := class.Entries()
	notices := class.Notices(entries)
	notes, err := class.Write(entries, f.Out, f.Canvas, f.Moodle)
	if err != nil {
		return err
	}
	changes, err := class.Changes(entries, f.Out, time.Now())
	if err != nil {
		return err
	}
	for _, n := range slices.Concat(notices, notes) {
		harmless.Println("note:", harmless.Line(n))
	}
	held := 0
	for _, e := range entries {
		if e.Unknown {
			harmless.Printf("note: %s: %s\n", harmless.Line(e.Student.ID), harmless.Line(e.Notes[0]))
		}
		if e.Awaiting > 0 {
			held++
		}
	}
	for _, t := range class.Rubrics {
		if n := stale(entries, t.Name); n > 0 {
			harmless.Printf("note: task %s was measured by an earlier rubric for %s; what is new is left open until grader batch has graded it\n", t.Name, record.Plural(n, "student"))
		}
	}
	if held > 0 {
		harmless.Printf("Points of %s await a person: %s, To do\n", record.Plural(held, "student"), filepath.Join(f.Out, pages.Report))
	}
	if n := len(changes); n > 0 {
		harmless.Printf("%s changed since the gradebook before, run %d: %s lists them, with the reasons\n", record.Plural(n, "grade"), changes[0].Run, filepath.Join(f.Out, gradebook.ChangesName))
	}
	if n := gradebook.OpenRequests(entries); n > 0 {
		harmless.Printf("%s without an answer: %s, To do\n", record.Plural(n, "regrade request"), filepath.Join(f.Out, pages.Report))
	}
	harmless.Printf("Written: %s, and feedback in %s\n", filepath.Join(f.Out, "gradebook.csv"), filepath.Join(f.Out, "students"))
	return f.Pages(class, entries, notices)
}

// stale counts the students whom a task's rubric asks for more than was measured.
func stale(entries []gradebook.Entry, task registry.Name) (n int) {
	for _, e := range entries {
		for _, t := range e.Tasks {
			if t.Rubric.Name == task && len(t.Stale) > 0 {
				n++
			}
		}
	}
	return n
}

// Pages writes what people read in a browser.
func (f Folder) Pages(class gradebook.Class, entries []gradebook.Entry, notices []string) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	if err := saveAccepted(f.Out, class.Tables.Accepted); err != nil {
		return err
	}
	settings, err := batch.LoadSettings(f.Out)
	if err != nil {
		return err
	}
	if len(f.Past) > 0 {
		settings.Past = f.Past
	}
	alike, texts, err := alikeIn(root, class.Rubrics, settings, class.Records)
	if err != nil {
		return err
	}
	changes, err := gradebook.LastChanges(f.Out)
	if err != nil {
		return err
	}
	questions, err := questionsOf(root, class.Rubrics)
	if err != nil {
		return err
	}
	in := pages.Input{Class: class, Entries: entries, Notices: notices, Out: f.Out, Files: filesOf(class.Rubrics, settings), Questions: questions,
		Changes: changes, Similar: alike, Texts: texts, Sandbox: settings.Sandbox.Name, NotHeld: settings.Sandbox.NotHeld}
	if err := pages.Write(f.Out, in); err != nil {
		return err
	}
	harmless.Printf("Written: %s, %s, %s and %s, and feedback.html of each student\n", filepath.Join(f.Out, pages.Report), pages.Class, pages.Leaderboard, pages.Marks)
	return nil
}
