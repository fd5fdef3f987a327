package student

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
)

func TestARequestNamesWhatThereIs(t *testing.T) {
	task := &rubric.Task{Name: "2", Checks: []rubric.Check{{ID: "softmax", Cases: []rubric.Case{{Name: "17x113"}, {Name: "secret", Hidden: true}}}, {ID: "gemm"}}}
	r, err := requestOf(task, "softmax/17x113")
	require.NoError(t, err)
	assert.Equal(t, handin.Request{Task: "2", Check: "softmax", Case: "17x113"}, r)
	r, err = requestOf(task, "gemm")
	require.NoError(t, err)
	assert.Equal(t, "2/gemm", r.What())
	for only, why := range map[string]string{"": "softmax, gemm", "sotfmax": `no check "sotfmax"`, "softmax/": `no case ""`, "softmax/secret": `no case "secret"`, "gemm/17x113": "no case"} {
		_, err := requestOf(task, only)
		assert.ErrorContains(t, err, why, only)
	}
}

func TestARequestIsWrittenAndPacked(t *testing.T) {
	root := t.TempDir()
	r := handin.Request{Task: "2", Check: "softmax", Receipt: "ab12 cd34 ef56"}
	_, err := ask(root, r)
	require.NoError(t, err)
	z, err := handin.Write(root, filepath.Join(root, "out", "z.zip"), nil)
	require.NoError(t, err)
	assert.Contains(t, z.Trouble, "regrade.toml asks for nothing: request 1: 2/softmax has no reason: write between the quotes what you think is wrong, and why")
	require.NoError(t, os.Remove(filepath.Join(root, handin.RegradeFile)))
	r.Reason = "it is right"
	for range 2 {
		_, err = ask(root, r)
		require.NoError(t, err)
	}
	z, err = handin.Write(root, filepath.Join(root, "out", "z.zip"), nil)
	require.NoError(t, err)
	assert.Empty(t, z.Trouble)
	assert.Equal(t, 2, z.Requests)
}
