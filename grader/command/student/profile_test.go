package student

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorkloadsOfProfile(t *testing.T) {
	u := &underCUDA{task: "4"}
	w, err := u.workload("flash-4-2048-full")
	require.NoError(t, err)
	assert.Equal(t, []int{4, 32, 2048, 2048, 128}, w.Shape)

	_, err = u.workload("flash-4-2048")
	assert.ErrorContains(t, err, "flash-4-2048-full", "the near names are there to pick from")
	_, err = (&underCUDA{task: "1"}).workload("flash-4-2048-full")
	assert.ErrorContains(t, err, "no workload is timed for task")
	_, err = (&underCUDA{task: "4", only: "flash"}).workload("flash-4-2048-full")
	assert.ErrorContains(t, err, "give one of them")
}
