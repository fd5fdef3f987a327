package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/grading/verdict"
	"flashlab/internal/cache"
)

// Gradescope is the format that Gradescope documents for an autograder's
// results.json.
type Gradescope struct {
	Score      float64          `json:"score"`
	Output     string           `json:"output"`
	Visibility string           `json:"visibility,omitempty"`
	Stdout     string           `json:"stdout_visibility,omitempty"`
	Time       float64          `json:"execution_time,omitempty"` // seconds
	Tests      []GradescopeTest `json:"tests"`
	ExtraData  ExtraData        `json:"extra_data"`
}

// GradescopeTest is one part of a check.
type GradescopeTest struct {
	Name       string   `json:"name"`
	Number     string   `json:"number"` // "2.1": the task's first check
	Status     string   `json:"status"` // "passed" with all of its points, or "failed"
	Score      float64  `json:"score"`
	MaxScore   float64  `json:"max_score"`
	Output     string   `json:"output"`
	Tags       []string `json:"tags"` // "task 2", "softmax", "safety"
	Visibility string   `json:"visibility"`
	Hidden     bool     `json:"-"` // it is the part of hidden cases
}

// ExtraData is ours to define; NotMeasured names parts that are in no score.
type ExtraData struct {
	NotMeasured []string `json:"not_measured"`
	Held        []string `json:"held,omitempty"` // checks that await a person; the full JSON says why
	Seed        uint64   `json:"seed"`
	Device      string   `json:"device"`
	Release     string   `json:"release"`
	Receipt     string   `json:"receipt,omitempty"`
	Totals      []Total  `json:"totals,omitempty"` // those of Results.md
	Bonus       *Bonus   `json:"bonus,omitempty"`  // where a bonus task was graded
}

// Bonus are the points of bonus tasks, which are in no other total.
type Bonus struct {
	Score    float64 `json:"score"`
	MaxScore float64 `json:"max_score"` // of what was measured
}

// WriteJSON writes results.json and results-full.json into dir. The totals are those of Results.md.
func WriteJSON(dir string, verdicts []verdict.Verdict, sums []Total) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	g := ForGradescope(verdicts)
	g.ExtraData.Totals = sums
	if err := writeJSON(filepath.Join(dir, "results.json"), g); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "results-full.json"), verdicts)
}

func writeJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return cache.WriteFile(name, append(data, '\n'), 0o644)
}

// ForGradescope puts verdicts into Gradescope's format.
func ForGradescope(verdicts []verdict.Verdict) Gradescope {
	g := Gradescope{Tests: []GradescopeTest{}, ExtraData: ExtraData{NotMeasured: []string{}}}
	for _, v := range verdicts {
		g.ExtraData.Seed, g.ExtraData.Device, g.ExtraData.Release = v.Seed, v.Device, v.Release
		if v.Refused != "" {
			g.Output += fmt.Sprintf("Task %s was not run:\n%s\n", v.Task, v.Refused)
		}
		for _, h := range v.Held {
			g.ExtraData.Held = append(g.ExtraData.Held, fmt.Sprintf("Task %s, %s: %s", v.Task, h.Check, verdict.Awaiting))
		}
		for i, c := range verdict.Scored(v.Checks) {
			for _, p := range c.Parts {
				name := fmt.Sprintf("Task %s, %s: %s", v.Task, c.Title, p.Name)
				if p.NotMeasured != "" {
					g.ExtraData.NotMeasured = append(g.ExtraData.NotMeasured, name+": "+p.NotMeasured)
					continue
				}
				g.Tests = append(g.Tests, GradescopeTest{Name: name, Number: fmt.Sprintf("%s.%d", v.Task, i+1), Status: status(p), Score: round(p.Score), MaxScore: round(p.Max),
					Output: explain(c, p), Tags: []string{"task " + string(v.Task), c.ID, p.Name}, Visibility: "visible", Hidden: p.Name == verdict.Hidden})
			}
		}
	}
	course, bonus := verdict.Parted(verdicts)
	score, _ := verdict.Total(course)
	g.Score = round(score)
	if len(bonus) > 0 {
		score, most := verdict.Total(bonus)
		g.ExtraData.Bonus = &Bonus{round(score), round(most)}
	}
	return g
}

// status is green or red in Gradescope's list.
func status(p verdict.Part) string {
	if lost(p) {
		return "failed"
	}
	return "passed"
}

// round spares readers of JSON the last bits.
func round(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// explain is what a student reads about a part.
func explain(c verdict.Check, p verdict.Part) string {
	lines := []string{p.Note}
	switch p.Name {
	case "correctness":
		groups, _ := Failures(c) // hidden cases are a test of their own
		for _, g := range groups {
			lines = append(lines, g.Lines()...)
		}
	case "safety":
		for i, f := range c.Findings {
			if i == maxFindings {
				lines = append(lines, andMore(len(c.Findings)-i))
				break
			}
			lines = append(lines, f.String())
		}
	}
	return strings.Join(lines, "\n")
}
