package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCountedInWords(t *testing.T) {
	assert.Equal(t, "1,234,567 steps, 1.50 bank passes a request, 1 tensor-core instruction",
		Counted{TensorCore: 1, Requests: 2000, Passes: 3000, Steps: 1234567}.String())
	assert.Equal(t, "999 steps", Counted{Steps: 999}.String())
}

func TestTheBusiestCaseIsShown(t *testing.T) {
	c := Check{Cases: []Outcome{{Name: "a", Moved: 5}, {Name: "b", Moved: 3, Counted: &Counted{Steps: 1}}, {Name: "c", Moved: 4, Counted: &Counted{Steps: 2}},
		{Name: "d", Moved: 9, Hidden: true, Counted: &Counted{Steps: 3}}}}
	name, what := c.Busiest()
	assert.Equal(t, "c", name)
	assert.EqualValues(t, 2, what.Steps)
	name, _ = Check{}.Busiest()
	assert.Empty(t, name)
}
