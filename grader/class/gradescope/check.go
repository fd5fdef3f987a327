package gradescope

import (
	"encoding/json"
	"fmt"
	"os"

	"flashlab/grader/grading/report"
)

// Check compares a results.json with Gradescope's documented format, and sums up what it contains.
func Check(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if err := report.CheckGradescope(data); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	var r report.Gradescope
	if err := json.Unmarshal(data, &r); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	of := 0.0
	for _, t := range r.Tests {
		of += t.MaxScore
	}
	return fmt.Sprintf("%s is as Gradescope wants it: %s points, of %s in %d tests", name, report.Points(r.Score), report.Points(of), len(r.Tests)), nil
}
