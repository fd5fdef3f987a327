package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Folders of precompiled headers that were not used for longest go, once there are too many.
func TestPrecompiledHeadersAreBounded(t *testing.T) {
	cache := t.TempDir()
	var dirs []string
	for i := range mostPrecompiled + 2 {
		dir := filepath.Join(cache, fmt.Sprintf("simt-gch-%d", i))
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "simt.h.gch"), []byte("gpch"), 0o644))
		require.NoError(t, os.Chtimes(dir, time.Time{}, time.Unix(int64(1000+i), 0)))
		dirs = append(dirs, dir)
	}
	other := filepath.Join(cache, "sim-src-0")
	require.NoError(t, os.Mkdir(other, 0o755))
	forgetPrecompiled(cache)
	for i, dir := range dirs {
		_, err := os.Stat(dir)
		assert.Equal(t, i >= 3, err == nil, dir)
	}
	_, err := os.Stat(other)
	assert.NoError(t, err)
}

// The precompiled header changes how long a compilation takes, and nothing else: a broken one
// is passed over.
func TestAPrecompiledHeaderChangesNothing(t *testing.T) {
	text := "extern \"C\" __global__ void k(float *y) {\n__shared__ float s[64];\ns[threadIdx.x] = 1 + threadIdx.x;\ny[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
	var told []string
	for _, spoil := range []func(header string) error{
		func(string) error { return nil },
		func(header string) error { return os.WriteFile(header, []byte("gpch"), 0o644) },
		func(header string) error { return os.Mkdir(header, 0o755) },
	} {
		cache := t.TempDir()
		copyRuntime(t, cache)
		d := start(t, Options{Checks: AllChecks(), Cache: cache})
		include, err := includeDir(cache)
		require.NoError(t, err)
		dir := d.compiler.precompiled(cache, include, AllChecks())
		if dir == "" {
			t.Skip("for g++")
		}
		header := filepath.Join(dir, "simt.h.gch")
		require.NoError(t, spoil(header))
		r, err := run(t, d, text, "k", 1)
		require.NoError(t, err)
		require.Len(t, r.Findings, 1)
		told = append(told, r.Findings[0].String())
		_, err = os.Stat(header)
		assert.NoError(t, err)
		assert.Equal(t, told[0], told[len(told)-1])
	}
}
