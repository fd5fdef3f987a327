//go:build !graded

package persistent

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestKernelsHaveTheSharedHeaders(t *testing.T) {
	folder := fstest.MapFS{"step.cu": {Data: []byte("kernel")}, "vector.cuh": {Data: []byte("vectors")}, "README.md": {Data: []byte("no")}}
	const name = "nn/persistent/test"
	device.Provide(name, folder, shared)
	s, err := device.Source{Folder: name, Name: "step.cu", Defines: map[string]string{"WARPS": "3"}}.Whole()
	require.NoError(t, err)
	assert.Equal(t, "kernel", s.Text)
	assert.Equal(t, "vectors", s.Files["vector.cuh"])
	assert.Contains(t, s.Files["gate.cuh"], "#include <hopper.h>")
	assert.Len(t, s.Files, 4, "best.cuh, gate.cuh, mail.cuh and vector.cuh: no README.md")

	_, err = device.Source{Folder: name, Name: "other.cu"}.Whole()
	assert.ErrorContains(t, err, "other.cu")
	folder["gate.cuh"] = folder["vector.cuh"]
	_, err = device.Source{Folder: name, Name: "step.cu"}.Whole()
	assert.ErrorContains(t, err, "there are two files gate.cuh")
}
