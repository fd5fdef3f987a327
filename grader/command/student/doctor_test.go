package student

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/command"
)

func TestDoctorWritesItsReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "environment.txt")
	code, err := doctor(true, file)
	require.NoError(t, err)
	assert.Equal(t, command.Full, code)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, want := range []string{"date: ", "machine: ", " processors", "Go: ", "course: ", "simulator: works; kernels are compiled by ", "GPU: "} {
		assert.Contains(t, string(text), want)
	}
	_, err = doctor(true, filepath.Join(file, "below.txt"))
	assert.ErrorContains(t, err, "doctor: ")
}

func TestFieldsOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, []byte("model\t: 3\nmodel name\t: EPYC : x\nmodel name\t: second\n"), 0o644))
	assert.Equal(t, "EPYC : x", field(file, "model name", ":"))
	assert.Empty(t, field(file, "flags", ":"))
	assert.Empty(t, field(file+"none", "flags", ":"))
}
