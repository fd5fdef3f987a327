package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
