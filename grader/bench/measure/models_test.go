package measure

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/bench/page"
	"flashlab/grader/grading/peers"
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

// TestAPeerThatTwoOfOursRaceRunsOnce: for as many rounds as one needs, and what it wrote is compared with each of ours.
func TestAPeerThatTwoOfOursRaceRunsOnce(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "bench", "peers")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	script := "import sys\nopen(" + strconv.Quote(filepath.Join(root, "calls")) + ", 'a').write(' '.join(sys.argv[1:]) + '\\n')\n" +
		`print('{"First":[5],"Each":[2],"Tokens":[[7],[8]],"Margins":[[0.5],[0.5]]}')` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "some.py"), []byte(script), 0o644))
	ours := map[string]string{"graph": `{"First":[4],"Each":[1],"Tokens":[[7],[8]]}`, "wrong": `{"First":[4],"Each":[1],"Tokens":[[7],[9]]}`}
	program := func(mode string, _ ...string) *exec.Cmd { return exec.Command("printf", "%s", ours[mode]) }
	b := Options{Torch: &peers.Torch{}}
	b.Root = root
	all := heard{}
	var results []page.Model
	for _, c := range []model{{mode: "graph", script: "some.py"}, {mode: "wrong", script: "some.py"}, {mode: "graph", script: "some.py", asked: []string{"--batch", "2"}}} {
		var to page.Model
		require.NoError(t, b.turns(t.Context(), c, program, &to, all))
		results = append(results, to)
	}
	calls, err := os.ReadFile(filepath.Join(root, "calls"))
	require.NoError(t, err)
	assert.Equal(t, "--json\n--json\n--json --compile\n--json --batch 2\n--json --batch 2\n--json --batch 2 --compile\n", string(calls))
	for i, r := range results {
		assert.Len(t, r.Theirs, rounds)
		require.Len(t, r.Others, 1)
		assert.Len(t, r.Others[0].Times, 1)
		assert.Equal(t, i == 1, r.Differ != "", "model %d", i)
		assert.Equal(t, i == 1, r.Others[0].Differ != "", "model %d", i)
	}
}

// TestOnlyTheSolutionsHaveAWholeLlama: other code has no program of `grader ways`.
func TestOnlyTheSolutionsHaveAWholeLlama(t *testing.T) {
	some := Options{Ways: func(context.Context) (string, error) { return "", nil }}
	for _, m := range models {
		assert.True(t, some.hasModel(m.task))
		assert.Equal(t, m.mode != ofWays, Options{}.hasModel(m.task), m.name)
		assert.Equal(t, m.mode == ofWays, m.task == "b9", m.name)
		assert.FileExists(t, filepath.Join("../../../bench/peers", m.script))
	}
}
