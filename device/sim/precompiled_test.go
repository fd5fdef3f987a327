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

// Precompiled headers change how long a compilation takes, and nothing else: not what is vetted, and
// not what is found. A broken one is passed over, whichever of the two it is.
func TestPrecompiledHeadersChangeNothing(t *testing.T) {
	const (
		kernel = "extern \"C\" __global__ void k(float *y) {\n__shared__ float s[64];\ns[threadIdx.x] = 1 + threadIdx.x;\ny[threadIdx.x] = s[63 - threadIdx.x];\n}\n"
		host   = "#include <cuda_fp16.h>\nint main() { return 0; }\n"
		inline = "__device__ int lane() { int l; asm(\"mov.u32 %0, %laneid;\" : \"=r\"(l)); return l; }\n"
	)
	whole := func(string) error { return nil }
	broken := func(header string) error { return os.WriteFile(header, []byte("gpch"), 0o644) }
	folder := func(header string) error { return os.Mkdir(header, 0o755) }
	type kind struct {
		text string
		ptx  bool
	}
	kinds := map[string]kind{"kernels alone": {kernel, false}, "with a host side": {host + kernel, false}, "with inline PTX": {inline + kernel, true}}
	if os.Getenv("FLASHLAB_ALL") == "" { // each compiles ten headers anew
		kinds = map[string]kind{"with a host side": kinds["with a host side"]}
	}
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			record.Skip(t)
			var finding string
			var vetted []Preprocessed
			for i, spoil := range [][2]func(string) error{{whole, whole}, {broken, whole}, {whole, broken}, {folder, whole}, {whole, folder}} {
				cache := t.TempDir()
				copyRuntime(t, cache)
				var texts []Preprocessed
				d := start(t, Options{Checks: AllChecks(), Cache: cache, Vet: func(p Preprocessed) error {
					p.Headers = ""
					texts = append(texts, p)
					return nil
				}})
				for j, marked := range []bool{false, true} {
					dir := d.compiler.precompiled(cache, AllChecks(), headerKind{marked, k.ptx})
					if dir == "" {
						t.Skip("for g++")
					}
					require.NoError(t, spoil[j](filepath.Join(dir, "simt.h.gch")))
				}
				r, err := run(t, d, k.text, "k", 1)
				require.NoError(t, err, i)
				require.Len(t, r.Findings, 1)
				if i == 0 {
					finding, vetted = r.Findings[0].String(), texts
				}
				assert.Equal(t, finding, r.Findings[0].String(), i)
				for at := range texts {
					for l := range texts[at].Includes {
						texts[at].Includes[l].Text = filepath.Base(texts[at].Includes[l].Text)
					}
				}
				assert.Equal(t, vetted[0], texts[0], i)
				assert.Equal(t, vetted[len(vetted)-1], texts[len(texts)-1], i)
			}
		})
	}
}
