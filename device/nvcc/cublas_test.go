package nvcc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func touch(t *testing.T, parts ...string) string {
	t.Helper()
	name := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, nil, 0o755))
	return name
}

func TestCublasOfTheToolkitComesFirst(t *testing.T) {
	root := t.TempDir()
	tk := &Toolkit{Nvcc: filepath.Join(root, "bin", "nvcc")}
	t.Setenv("PATH", t.TempDir()) // no python3
	assert.Empty(t, tk.Cublas())
	touch(t, root, "lib64", "libcublas.so.12.8.4.1")
	touch(t, root, "lib64", "libcublas.so.12")
	want := touch(t, root, "lib64", "libcublas.so.13")
	touch(t, root, "lib64", "libcublasLt.so.13")
	assert.Equal(t, want, tk.Cublas())
}

func TestCublasOfPyTorchsWheels(t *testing.T) {
	site, bin := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\necho " + filepath.Join(site, "nvidia") + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	tk := &Toolkit{Nvcc: filepath.Join(t.TempDir(), "bin", "nvcc")}
	want := touch(t, site, "nvidia", "cu13", "lib", "libcublas.so.13")
	assert.Equal(t, want, tk.Cublas())
	want = touch(t, site, "nvidia", "cublas", "lib", "libcublas.so.12")
	assert.Equal(t, want, tk.Cublas())
}
