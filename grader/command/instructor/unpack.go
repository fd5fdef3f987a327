package instructor

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"flashlab/grader/class/folder"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/command"
	"flashlab/grader/grading/handin"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
)

// Unpack writes the files of one attempt that are graded, as they were handed in, for a person to
// look at or to grade by themselves.
var Unpack = command.Command{Name: "unpack", Summary: "write out one attempt's files", Usage: "OUT STUDENT=ID ATTEMPT=1 O=FOLDER", Args: command.Places,
	Define: func(f *flag.FlagSet) command.Run {
		student := f.String("student", "", "whose, by `id` or by the name of their folder in OUT/students")
		attempt := f.Int("attempt", 1, "which")
		to := f.String("o", "", "`folder` to write to")
		return func(places []string) (int, error) {
			if len(places) != 1 || *student == "" || *to == "" {
				return command.Failed, errors.New("unpack: want a batch's folder, a student and a new folder: unpack OUT STUDENT=ID ATTEMPT=1 O=FOLDER")
			}
			return unpack(folder.Folder{Out: places[0]}, *student, *attempt, *to)
		}
	}}

func unpack(c folder.Folder, student string, attempt int, to string) (int, error) {
	_, all, settings, err := c.Open()
	if err != nil {
		return command.Failed, err
	}
	records, err := record.ReadAll(c.Out)
	if err != nil {
		return command.Failed, err
	}
	for _, r := range records {
		if r.Attempt != attempt || r.Student.ID != student && record.Safe(r.Student.ID) != student {
			continue
		}
		content, err := intake.Read(filepath.Join(settings.Submissions, r.Submission.File), intake.WantedOf(all))
		if errors.Is(err, fs.ErrNotExist) {
			return command.Failed, fmt.Errorf("unpack: the submissions are not in %s any more: %w", settings.Submissions, err)
		}
		if err != nil {
			return command.Failed, err
		}
		if string(content.Receipt) != r.Submission.SHA256 {
			return command.Failed, fmt.Errorf("unpack: %s is not what was graded: its receipt is %s, and was %s", r.Submission.File, content.Receipt.Short(), handin.Receipt(r.Submission.SHA256).Short())
		}
		for name, data := range content.Files { // the names are the rubrics'
			file := filepath.Join(to, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return command.Failed, err
			}
			if err := cache.WriteFile(file, data, 0o644); err != nil {
				return command.Failed, err
			}
		}
		harmless.Printf("Written: %s in %s\n", record.Plural(len(content.Files), "file"), to)
		return command.Full, nil
	}
	return command.Failed, fmt.Errorf("unpack: %s has no attempt %d of %q", c.Out, attempt, student)
}
