package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Who is graded where fewer accesses are seen is told so, and so is who reads the results.
func TestTheSimulatorOnArmIsNamed(t *testing.T) {
	assert.Equal(t, "the simulator", simulatorOn("amd64"))
	assert.Equal(t, "the simulator on arm64, where it sees less than on x86-64", simulatorOn("arm64"))
}
