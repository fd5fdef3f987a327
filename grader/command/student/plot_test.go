package student

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/command"
	"flashlab/grader/tasks/registry"
)

func TestWhatThereIsToDraw(t *testing.T) {
	for _, one := range registry.All {
		if drawn[string(one.Name)] != "" {
			continue
		}
		code, err := whose{}.plot(string(one.Name), "sim")
		assert.Equal(t, command.Failed, code)
		assert.EqualError(t, err, "plot: task "+string(one.Name)+" has no plot; tasks 3 and 5 have one")
	}
}
