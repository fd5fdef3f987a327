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
		`{"tests": [{"score": 1, "max_score": 2}]}`:                                                   "",
		`{"score": 1, "output": "x", "tests": [], "visibility": "after_published", "extra_data": {}}`: "",
		`{"score": 1`:                         "unexpected EOF",
		`{}`:                                  "neither a score nor a test",
		`{"score": "3"}`:                      "cannot unmarshal string",
		`{"score": 1, "marks": 2}`:            `unknown field "marks"`,
		`{"score": 1, "visibility": "shown"}`: `visibility "shown": want one of`,
		`{"score": 1, "tests": [{"max": 2}]}`: `unknown field "max"`,
		`{"score": 1, "tests": [3]}`:          "cannot unmarshal number",
		`{"score": 1, "output": ["x"]}`:       "cannot unmarshal array",
		`{"score": 1, "extra_data": []}`:      "cannot unmarshal array",
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
