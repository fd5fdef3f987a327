package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// visibilities are those that Gradescope documents; "" is its own choice.
var visibilities = []string{"", "hidden", "after_due_date", "after_published", "visible"}

// CheckGradescope compares a results.json with the part of Gradescope's documented format that we
// use. Gradescope shows a student any mistake in it as a failed autograder.
func CheckGradescope(data []byte) error {
	var g struct {
		Gradescope
		Score *float64 `json:"score"` // a missing one is a mistake where there is no test
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&g); err != nil {
		return fmt.Errorf("results.json: %w", err)
	}
	shown := []string{g.Visibility, g.Stdout}
	for _, t := range g.Tests {
		shown = append(shown, t.Visibility)
		if !slices.Contains([]string{"", "passed", "failed"}, t.Status) {
			return fmt.Errorf("results.json: status %q: want passed or failed", t.Status)
		}
	}
	for _, v := range shown {
		if !slices.Contains(visibilities, v) {
			return fmt.Errorf("results.json: visibility %q: want one of %q", v, visibilities[1:])
		}
	}
	if g.Score == nil && len(g.Tests) == 0 {
		return errors.New("results.json: there is neither a score nor a test")
	}
	return nil
}
