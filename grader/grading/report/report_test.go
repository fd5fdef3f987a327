package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

func verdictOf(task registry.Name, points float64) verdict.Verdict {
	race := trace.Finding{Check: "racecheck", File: "kernels.cu", Line: 42, Column: 17, Message: "race on shared memory tile[3] (4 bytes)", Count: 1}
	race2 := verdict.Found{Finding: race}
	return verdict.Verdict{Task: task, Title: "Softmax", Subject: "your files", Device: "the simulator", Seed: 7, Again: "make grade TASK=2 SEED=7",
		Checks: []verdict.Check{{
			ID: "softmax", Title: "Batched softmax",
			Parts: []verdict.Part{
				{Name: "correctness", Score: points, Max: 0.6, Note: "1 of 6 cases right"},
				{Name: "safety", Max: 0.15, Note: "5 findings"},
				{Name: "speed", Max: 0.25, NotMeasured: "not measured: needs a GPU"},
			},
			Cases: []verdict.Outcome{
				{Name: "good", Passed: true},
				{Name: "a", Class: "error", Reason: "same", Again: "make grade CASE=softmax/a"},
				{Name: "b", Class: "error", Reason: "same"},
				{Name: "c", Reason: "rows were never written", Details: []string{"worst at y[1][2]"}},
				{Name: "d", Reason: "zeros"},
				{Name: "e", Reason: "sums"},
				{Name: "secret", Hidden: true, Reason: "secret reason"},
			},
			Findings: []verdict.Found{{Finding: race, Again: "make grade THREAD=1,0,0"}, race2, race2, race2, race2},
		}}}
}

func TestTheVerdictInPlainText(t *testing.T) {
	var b bytes.Buffer
	Printer{W: &b}.Verdict(verdictOf("2", 0.1))
	out := b.String()
	for _, want := range []string{
		"Task 2: Softmax", "your files · on the simulator · seed 7",
		" ✗ Batched softmax  █░░░░░░░░░  0.1 of 0.75\n",
		"     correctness  0.1 of 0.6   1 of 6 cases right\n     safety       0 of 0.15    5 findings\n     speed        – of 0.25    not measured: needs a GPU\n",
		"✗ softmax/a, softmax/b\n  same\n  again: make grade CASE=softmax/a",
		"✗ softmax/c\n  rows were never written\n  worst at y[1][2]",
		"also: softmax/e",
		"kernels.cu:42:17: race on shared memory", "and 2 more findings",
		"Task 2: 0.1 of 0.75 points measured here; 0.25 not measured",
	} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "secret")
	assert.NotContains(t, out, "\x1b", "no colours in a file")
	assert.NotRegexp(t, `(?m) $`, out)
	assert.Equal(t, 3, strings.Count(out, "race on shared"))
}

// TestTheSmallestCaseLeads: of cases that went wrong in the same way, and of the ways. What a small one cannot tell, the
// largest adds.
func TestTheSmallestCaseLeads(t *testing.T) {
	c := verdict.Check{ID: "gemm", Cases: []verdict.Outcome{
		{Name: "small", Shape: []int{1, 17}, Reason: "the last tile of 16", Again: "small"},
		{Name: "large", Shape: []int{1, 113}, Reason: "the last tile of 64", Details: []string{"there"}, Again: "large"},
		{Name: "middle", Shape: []int{1, 40}, Reason: "the last tile of 32"},
		{Name: "crashed", Shape: []int{1, 1}, Class: "error", Reason: "index 1", Again: "crashed"},
		{Name: "too", Shape: []int{1, 9}, Class: "error", Reason: "index 9", Again: "too"}}}
	groups, _ := Failures(c)
	require.Len(t, groups, 2)
	assert.Equal(t, "crashed", groups[0].Again)
	assert.Equal(t, []string{"gemm/crashed, gemm/too", "  index 1", "  again: crashed"}, groups[0].Lines())
	assert.Equal(t, []string{"gemm/small, gemm/large, gemm/middle", "  the last tile of 16", "  in the largest, gemm/large: the last tile of 64", "  again: small"}, groups[1].Lines())
	slices.Reverse(c.Cases) // whatever the rubric's order is
	groups, _ = Failures(c)
	assert.Equal(t, []string{"gemm/crashed", "gemm/too"}, groups[0].Names)
	assert.Equal(t, "small", groups[1].Again)
	assert.Equal(t, []string{"in the largest, gemm/large: the last tile of 64"}, groups[1].Details)
	c.Cases = append(c.Cases, verdict.Outcome{Name: "broken", Shape: []int{9, 9, 9}, Class: "compile", Reason: "kernels.cu:3:7: error"})
	groups, _ = Failures(c)
	assert.Equal(t, []string{"gemm/broken"}, groups[0].Names, "nothing else is worth reading before")
}

// TestWhatDoesNotCompileIsSaidOnce, though every check meets it.
func TestWhatDoesNotCompileIsSaidOnce(t *testing.T) {
	broken := []verdict.Outcome{{Name: "1x1", Class: "compile", Reason: "kernels.cu:3:7: error: no such thing", Again: "repeat"}}
	v := verdict.Verdict{Task: "2", Checks: []verdict.Check{{ID: "softmax", Cases: broken}, {ID: "gemm", Cases: broken}}}
	var b bytes.Buffer
	Printer{W: &b}.Verdict(v)
	for _, said := range []string{b.String(), strings.Join(wrong(v, nil), "\n")} {
		assert.Equal(t, 1, strings.Count(said, "no such thing"), said)
		assert.Contains(t, said, "gemm/1x1\n  does not compile, as said of softmax/1x1")
	}
}

func TestTheTerminalHasColours(t *testing.T) {
	var b bytes.Buffer
	Printer{W: &b, Terminal: true}.Verdict(verdictOf("2", 0.6))
	assert.Regexp(t, "\x1b\\[[0-9;]+m✗", b.String())
	refused := verdict.Verdict{Task: "2", Refused: "attention.go:3: imports \"os\""}
	b.Reset()
	Printer{W: &b}.Verdict(refused)
	assert.Contains(t, b.String(), "The submission was not run:\n  attention.go:3")
}

func TestGradescopesFormat(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteJSON(dir, []verdict.Verdict{verdictOf("2", 0.1)}, nil))
	data, err := os.ReadFile(filepath.Join(dir, "results.json"))
	require.NoError(t, err)
	var g map[string]any
	require.NoError(t, json.Unmarshal(data, &g))
	assert.Equal(t, 0.1, g["score"])
	tests := g["tests"].([]any)
	require.Len(t, tests, 2, "what was not measured is no test")
	first := tests[0].(map[string]any)
	assert.Equal(t, "Task 2, Batched softmax: correctness", first["name"])
	assert.Equal(t, 0.6, first["max_score"])
	assert.Equal(t, "visible", first["visibility"])
	assert.Contains(t, first["output"], "again: make grade CASE=softmax/a")
	assert.NotContains(t, first["output"], "secret")
	extra := g["extra_data"].(map[string]any)
	assert.Equal(t, []any{"Task 2, Batched softmax: speed: not measured: needs a GPU"}, extra["not_measured"])
	full, err := os.ReadFile(filepath.Join(dir, "results-full.json"))
	require.NoError(t, err)
	assert.True(t, json.Valid(full))
}

func TestTheTotalSaysWhatIsHidden(t *testing.T) {
	v := verdictOf("2", 0.1)
	v.Checks[0].Parts = append(v.Checks[0].Parts, verdict.Part{Name: verdict.Hidden, Max: 0.05, NotMeasured: "1 hidden case runs when you have handed in", Withheld: true})
	var b bytes.Buffer
	Printer{W: &b}.Verdict(v)
	assert.Contains(t, b.String(), "0.1 of 0.75   0.05 hidden\n")
	assert.NotContains(t, b.String(), "handed in", "the check's line says it")
	assert.Contains(t, b.String(), "points measured here; 0.05 hidden, 0.25 not measured")
	b.Reset()
	Printer{W: &b, Details: true}.Verdict(v)
	assert.Contains(t, b.String(), "– of 0.05    1 hidden case runs when you have handed in\n")
	assert.Contains(t, Section(v), "points measured here; 0.05 hidden, 0.25 not measured; on")
	assert.Contains(t, Section(v), "| Batched softmax | 0.1 of 0.75 | correctness 0.1 of 0.6: 1 of 6 cases right; safety 0 of 0.15: 5 findings; speed – of 0.25: not measured: needs a GPU; 0.05 hidden |\n")
	assert.Len(t, ForGradescope([]verdict.Verdict{v}).Tests, 2)
}

func TestPoints(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", 0.5: "0.5", 0.4667: "0.467", 10: "10", 0.15: "0.15"} {
		assert.Equal(t, want, Points(x))
	}
}

func TestProgressLeavesTheTerminalFree(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, true, "task 2")
	p.Case(1, 2, "softmax/1x1")
	p.Stop()
	assert.True(t, strings.HasSuffix(b.String(), "\x1b[A\x1b[K"), "the bar's line is taken back")
	b.Reset()
	p = NewProgress(&b, false, "task 2")
	p.Case(1, 2, "softmax/1x1")
	p.Stop()
	assert.Empty(t, b.String())
}

// A table whose lines a terminal breaks is none: it becomes a list.
func TestNarrowTerminals(t *testing.T) {
	wide := verdictOf("2", 0.1)
	wide.Checks[0].Parts[0].Note = "moved 1.50 × the least bytes (1x128x128x64), and more words than there is room for"
	for _, width := range []int{30, 40, 79, 80, 200} {
		for _, terminal := range []bool{false, true} {
			var b bytes.Buffer
			p := Printer{W: &b, Terminal: terminal, Width: width}
			for _, drawn := range []string{p.checks(wide), func() string { p.Summary([]verdict.Verdict{wide, verdictOf("3", 0)}); return b.String() }()} {
				for _, l := range strings.Split(drawn, "\n") {
					if strings.HasPrefix(text.StripEscape(l), "All tasks") { // a sentence, which a terminal may break
						continue
					}
					assert.LessOrEqual(t, text.StringWidthWithoutEscSequences(l), width, l)
				}
			}
		}
	}
	assert.Equal(t, "✗ Batched softmax  0.1 of 0.75\n    correctness 0.1 of 0.6\n      moved 1.50 × the least bytes\n      (1x128x128x64), and more words\n      than there is room for\n    safety 0 of 0.15\n      5 findings\n    speed – of 0.25\n      not measured: needs a GPU",
		Printer{Width: 40}.checks(wide))
	assert.Equal(t, Printer{}.checks(wide), Printer{Width: 200}.checks(wide))
	assert.Contains(t, Printer{Width: 80}.checks(wide), "0.1 of 0.6   moved 1.50 × the least bytes (1x128x128x64), and\n                               more words than there is room for\n", "a long note hangs")
	wide.Checks[0].Parts[0].Note = "short"
	assert.NotContains(t, Printer{Width: 44}.checks(wide), "█", "first the bars go")
}

func TestTheBarKeepsEveryLineAboveIt(t *testing.T) {
	var b bytes.Buffer
	bar := NewBar(&b, "starting", true)
	bar.Update(0, 2, "s001: task 1, building")
	bar.Log("1/2  s001: 2 of 2 points")
	bar.Update(2, 2, "")
	bar.Log("2/2  s002: 2 of 2 points")
	bar.Stop()
	for _, want := range []string{"1/2  s001: 2 of 2 points\n", "2/2  s002: 2 of 2 points\n", "[2 of 2 in 0s"} {
		assert.Contains(t, b.String(), want)
	}
	assert.True(t, strings.HasSuffix(b.String(), "\x1b[A\x1b[K"))
}

func TestASummaryAddsUp(t *testing.T) {
	var b bytes.Buffer
	refused := verdictOf("3", 0)
	refused.Refused = "attention.go:1: no"
	Printer{W: &b}.Summary([]verdict.Verdict{verdictOf("2", 0.1), refused})
	for _, want := range []string{" ✗ 2  Softmax  █░░░░░░░░░  0.1 of 0.75\n", " ✗ 3  Softmax  ░░░░░░░░░░  0 of 0.75     was not run\n", "All tasks: 0.1 of 1.5 points measured here; 0.5 not measured"} {
		assert.Contains(t, b.String(), want)
	}
	b.Reset()
	Printer{W: &b}.Summary([]verdict.Verdict{verdictOf("2", 0.1)})
	assert.Empty(t, b.String(), "one task says it itself")
}
