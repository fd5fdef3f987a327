package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/nvcc"
)

// TestNvccRunsInside needs nvcc, but no GPU.
func TestNvccRunsInside(t *testing.T) {
	tk, err := nvcc.Find()
	if err != nil {
		t.Skip(err)
	}
	box, err := Probe("bwrap")
	if err != nil {
		t.Skip(err)
	}
	defer box.Close()
	t.Setenv("FLASHLAB_CACHE", t.TempDir())
	tk.Jail = box.Command
	machine, err := tk.Compile(device.Source{Name: "k.cu", Text: "extern \"C\" __global__ void k(float *y) { y[0] = N; }", Defines: map[string]string{"N": "3"}}, "sm_90")
	require.NoError(t, err)
	assert.NotEmpty(t, machine)
	_, err = tk.Compile(device.Source{Name: "k.cu", Text: "extern \"C\" __global__ void k(float *y) { y[0] = oops; }"}, "sm_90")
	assert.ErrorContains(t, err, "oops")
	_, err = tk.Compile(device.Source{Name: "k.cu", Text: "#include \"/etc/passwd\"\n"}, "sm_90")
	assert.Error(t, err)
	assert.NotContains(t, err.Error(), "root:")
}
