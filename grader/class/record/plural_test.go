package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlural(t *testing.T) {
	for want, noun := range map[string]string{"0 students": "student", "1 student": "student", "2 stretches": "stretch", "3 regrade requests": "regrade request", "5 likenesses": "likeness"} {
		assert.Equal(t, want, Plural(int(want[0]-'0'), noun))
	}
}
