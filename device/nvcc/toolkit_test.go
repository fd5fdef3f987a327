package nvcc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// program writes an executable shell script.
func program(t *testing.T, path, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755))
}

func TestFindTakesCudaHomeFirst(t *testing.T) {
	home := t.TempDir()
	program(t, home+"/bin/nvcc", `echo "Cuda compilation tools, release 13.0, V13.0.88"`)
	require.NoError(t, os.MkdirAll(home+"/include", 0o755))
	require.NoError(t, os.WriteFile(home+"/include/cuda.h", nil, 0o644))
	t.Setenv("CUDA_HOME", home)
	tk, err := Find()
	require.NoError(t, err)
	assert.Equal(t, home+"/bin/nvcc", tk.Nvcc)
	assert.Equal(t, "13.0.88", tk.Version)
	assert.Equal(t, home+"/include", tk.Include)
}

func TestFindSaysWhatIsBroken(t *testing.T) {
	home := t.TempDir()
	program(t, home+"/bin/nvcc", `echo "not today"; exit 3`)
	_, err := open(home + "/bin/nvcc")
	require.Error(t, err)
	assert.Contains(t, err.Error(), "not today")
}

func TestFindSaysHowToGetOne(t *testing.T) {
	t.Setenv("CUDA_HOME", t.TempDir())
	t.Setenv("CUDA_PATH", "")
	t.Setenv("PATH", "")
	_, err := Find()
	if err == nil {
		t.Skip("there is one in a usual place")
	}
	require.ErrorIs(t, err, ErrNoToolkit)
	assert.Contains(t, err.Error(), "CUDA_HOME")
}

func TestCgoEnvPutsCompatFirst(t *testing.T) {
	t.Setenv("CGO_CFLAGS", "-g")
	t.Setenv("CGO_LDFLAGS", "")
	tk := &Toolkit{Include: "/opt/my cuda/include", LibDir: "/usr/lib"}
	assert.Equal(t, []string{
		"CGO_ENABLED=1",
		`CGO_CFLAGS=-O2 -I/src/device/cuda/compat "-I/opt/my cuda/include" -g`,
		"CGO_LDFLAGS=-L/usr/lib",
	}, tk.CgoEnv("/src"))
}

func TestGPUs(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("CUDA_VISIBLE_DEVICES", "") // to have it put back
	require.NoError(t, os.Unsetenv("CUDA_VISIBLE_DEVICES"))
	_, err := GPUs()
	require.ErrorIs(t, err, device.ErrNoDevice)

	program(t, bin+"/nvidia-smi", `echo "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0a1b)"; echo "GPU 1: NVIDIA L4 (UUID: GPU-2c3d)"; echo "  MIG 1g.10gb Device 0: (UUID: MIG-1)"`)
	names, err := GPUs()
	require.NoError(t, err)
	assert.Equal(t, []string{"NVIDIA H100 80GB HBM3", "NVIDIA L4"}, names)
	assert.Empty(t, First())

	const h100, l4 = "NVIDIA H100 80GB HBM3", "NVIDIA L4"
	for _, c := range []struct {
		visible string
		names   []string
		first   []string
	}{
		{"1", []string{l4}, []string{"--id=1"}},
		{"1,0", []string{l4, h100}, []string{"--id=1"}},
		{" 1 , 7, 0", []string{l4}, []string{"--id=1"}},
		{"GPU-2c", []string{l4}, []string{"--id=GPU-2c"}},
		{"MIG-1", []string{h100, l4}, nil},
		{"2", nil, []string{"--id=2"}},
		{"-1", nil, nil},
		{"", nil, nil},
	} {
		t.Setenv("CUDA_VISIBLE_DEVICES", c.visible)
		names, err := GPUs()
		assert.Equal(t, c.names, names, c.visible)
		assert.Equal(t, c.first, First(), c.visible)
		if c.names == nil {
			require.ErrorIs(t, err, device.ErrNoDevice, c.visible)
			assert.Contains(t, err.Error(), "CUDA_VISIBLE_DEVICES=\""+c.visible+"\" hides all GPUs of this machine, 2 of them")
		}
	}
	require.NoError(t, os.Unsetenv("CUDA_VISIBLE_DEVICES"))

	program(t, bin+"/nvidia-smi", `echo "couldn't communicate with the NVIDIA driver"; exit 9`)
	_, err = GPUs()
	require.ErrorIs(t, err, device.ErrNoDevice)
	assert.Contains(t, err.Error(), "communicate")
}
