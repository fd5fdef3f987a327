package measure

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/page"
)

func TestAnAnswerIsAProgramsLastLine(t *testing.T) {
	says := func(text string) *exec.Cmd { return exec.Command("printf", "%s", text) }
	a, err := answerOf(says("a banner\n" + `{"First":[5],"Each":[2,3],"Tokens":[[7,8],[9,1]],"Margins":[[0.5,0.25],[1,0.5]],"Work":{"Prompt":4,"Token":2}}` + "\n"))
	require.NoError(t, err)
	assert.Equal(t, page.Times{First: []float64{5}, Each: []float64{2, 3}}, a.Times)
	assert.Equal(t, page.Written{Tokens: [][]int32{{7, 8}, {9, 1}}, Margins: [][]float64{{0.5, 0.25}, {1, 0.5}}}, a.Written)
	assert.Equal(t, page.Work{Prompt: 4, Token: 2}, a.Work)

	_, err = answerOf(says("Killed"))
	assert.ErrorContains(t, err, "its last line is no times")
	_, err = answerOf(exec.Command("false"))
	assert.ErrorContains(t, err, "exit status 1")
}
