package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/verdict"
)

func TestTheRulesOfGradescopesFormat(t *testing.T) {
	for text, want := range map[string]string{
		`{"score": 3}`: "",
		`{"tests": [{"score": 1, "max_score": 2}]}`: "",
		`{"score": 1, "output": "x", "tests": [], "visibility": "after_published", "extra_data": {}, "leaderboard": [{"name": "Time", "value": 3, "order": "asc"}]}`: "",
		`{"score": 1`:                                    "unexpected end",
		`{}`:                                             "neither a score nor a test",
		`{"tests": [{"name": "a"}]}`:                     "tests[0] has no score",
		`{"score": "3"}`:                                 "score: want a number",
		`{"score": 1, "marks": 2}`:                       "marks: no such key",
		`{"score": 1, "visibility": "shown"}`:            `visibility: want one of`,
		`{"score": 1, "tests": [{"max": 2}]}`:            "tests[0].max: no such key",
		`{"score": 1, "tests": [3]}`:                     "tests[0].: want an object",
		`{"score": 1, "tests": [{"status": "ok"}]}`:      "tests[0].status: want one of",
		`{"score": 1, "output": ["x"]}`:                  "output: want a text",
		`{"score": 1, "extra_data": []}`:                 "extra_data: want an object",
		`{"score": 1, "leaderboard": [{"order": "up"}]}`: "leaderboard[0].order",
	} {
		err := CheckGradescope([]byte(text))
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}

func TestOurResultsAreInGradescopesFormat(t *testing.T) {
	for _, verdicts := range [][]verdict.Verdict{nil, {verdictOf("2", 0.1), verdictOf("3", 0.6)}, {{Task: "2", Refused: "attention.go:3: imports \"os\""}}} {
		data, err := json.Marshal(ForGradescope(verdicts))
		require.NoError(t, err)
		assert.NoError(t, CheckGradescope(data))
	}
}
