package trial

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// TestSolutionsPassWhateverAClassDraws: each class has hidden cases of its own.
func TestSolutionsPassWhateverAClassDraws(t *testing.T) {
	t.Parallel()
	if os.Getenv(allMutants) == "" {
		t.Skip(allMutants + " is not set")
	}
	root := ready(t)
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		task, err := rubric.Load(root, name)
		require.NoError(t, err)
		for seed := range 2 {
			task.Draw(fmt.Sprint("class ", seed))
			v := gradeOn(t, root, task, run.Solution(root, task), "drawn")
			assert.True(t, v.Full(), feedback(v))
		}
	}
}
