package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/pages"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/internal/cache"
	"flashlab/internal/repo"
)

// reportCommand draws the pages anew of what a batch measured.
func reportCommand(args []string) (int, error) {
	var c classFlags
	class, settings, err := c.ofBatch("report", args)
	if err != nil {
		return exitFailed, err
	}
	if class.Records, err = record.ReadAll(c.out); err != nil {
		return exitFailed, err
	}
	if len(class.Records) == 0 {
		return exitFailed, fmt.Errorf("report: %s holds no records: want the folder that a batch wrote with -o", c.out)
	}
	if err := c.pages(class, class.Entries()); err != nil {
		return exitFailed, err
	}
	return exitFull, settings.Save(c.out)
}

// unpackCommand writes the files of one attempt that are graded, as they were handed in, for a person
// to look at or to grade by themselves.
func unpackCommand(args []string) (int, error) {
	var c classFlags
	f := flag.NewFlagSet("unpack", flag.ContinueOnError)
	student := f.String("student", "", "whose, by `id` or by the name of their folder in OUT/students")
	attempt := f.Int("attempt", 1, "which")
	to := f.String("o", "", "`folder` to write to")
	places, err := parsePlaces(f, args)
	if err != nil {
		return exitFailed, err
	}
	if len(places) != 1 || *student == "" || *to == "" {
		return exitFailed, errors.New("unpack: want a batch's folder, a student and a new folder: unpack OUT -student ID -attempt 1 -o FOLDER")
	}
	c.out = places[0]
	_, all, settings, err := c.open()
	if err != nil {
		return exitFailed, err
	}
	records, err := record.ReadAll(c.out)
	if err != nil {
		return exitFailed, err
	}
	for _, r := range records {
		if r.Attempt != *attempt || r.Student.ID != *student && record.Safe(r.Student.ID) != *student {
			continue
		}
		content, err := intake.Read(filepath.Join(settings.Submissions, r.Submission.File), handin.Names(all))
		if errors.Is(err, fs.ErrNotExist) {
			return exitFailed, fmt.Errorf("unpack: the submissions are not in %s any more: %w", settings.Submissions, err)
		}
		if err != nil {
			return exitFailed, err
		}
		if string(content.Receipt) != r.Submission.SHA256 {
			return exitFailed, fmt.Errorf("unpack: %s is not what was graded: its receipt is %s, and was %s", r.Submission.File, content.Receipt.Short(), handin.Receipt(r.Submission.SHA256).Short())
		}
		for name, data := range content.Files { // the names are the rubrics'
			file := filepath.Join(*to, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return exitFailed, err
			}
			if err := cache.WriteFile(file, data, 0o644); err != nil {
				return exitFailed, err
			}
		}
		fmt.Printf("Written: %d files in %s\n", len(content.Files), *to)
		return exitFull, nil
	}
	return exitFailed, fmt.Errorf("unpack: %s has no attempt %d of %q", c.out, *attempt, *student)
}

// pages writes what people read in a browser.
func (c classFlags) pages(class gradebook.Class, entries []gradebook.Entry) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	settings, err := batch.LoadSettings(c.out)
	if err != nil {
		return err
	}
	if len(c.past) > 0 {
		settings.Past = c.past
	}
	alike, err := compare(root, class.Rubrics, settings, class.Records)
	if err != nil {
		return err
	}
	if err := pages.Write(c.out, pages.Input{Class: class, Entries: entries, Out: c.out, Similar: alike, Sandbox: settings.Sandbox.Name, NotHeld: settings.Sandbox.NotHeld}); err != nil {
		return err
	}
	fmt.Printf("Written: %s and %s, and feedback.html of each student\n", filepath.Join(c.out, pages.Report), pages.Class)
	return nil
}
