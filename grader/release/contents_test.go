package release

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestInstructorsPagesStayBehind(t *testing.T) {
	for _, name := range []string{"docs/instructors.md", "docs/teaching.md", "task4_flash/solution/answers.md"} {
		assert.False(t, goes(name), name)
	}
	for _, name := range []string{"docs/gpu.md", "docs/drawings/banks.svg"} {
		assert.True(t, goes(name), name)
	}
}
