package student

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"flashlab/grader/grading/report"
	"flashlab/grader/grading/verdict"
)

// actions is a run of GitHub Actions; nil elsewhere.
type actions struct{ stop string }

// onActions begins one: until it ends, nothing that a submission prints is a command to GitHub's runner.
func onActions() *actions {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	a := &actions{rand.Text()}
	fmt.Printf("::stop-commands::%s\n", a.stop)
	return a
}

// end annotates the repository's lines, and adds to the job's summary.
func (a *actions) end(verdicts []verdict.Verdict) (err error) {
	if a == nil {
		return nil
	}
	fmt.Printf("::%s::\n", a.stop)
	for _, line := range report.Annotations(verdicts) {
		fmt.Println(line)
	}
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) // other steps' summaries stay
	if err != nil {
		return err
	}
	_, err = f.WriteString(report.JobSummary(verdicts))
	return errors.Join(err, f.Close())
}
