package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestWhatIsVettedIsWhatIsCompiled: macros are expanded, includes named, and a file that
// calls itself something else is found out.
func TestWhatIsVettedIsWhatIsCompiled(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		var seen Preprocessed
		d := start(t, Options{Compiler: compiler, Cache: t.TempDir(), Checks: AllChecks(), Vet: func(p Preprocessed) error { seen = p; return nil }})
		_, err := d.Compile(device.Source{Name: "k.cu", Text: `#include <cmath>
#define WORD hidden
__device__ int WORD = 1; // a comment
extern "C" __global__ void k(float *x) { x[0] = threadIdx.x; }
#line 7 "other.cu"
__device__ int beyond = 2;
`})
		require.NoError(t, err)
		require.Len(t, seen.Includes, 1)
		assert.Regexp(t, `/cmath$`, seen.Includes[0].Text)
		require.NotEmpty(t, seen.Strange)
		assert.Equal(t, "other.cu", seen.Strange[0].Text)
		all := ""
		for _, l := range seen.Lines {
			all += l.Text + "\n"
			if l.Number == 3 {
				assert.Contains(t, l.Text, "int hidden = 1;")
				assert.NotContains(t, l.Text, "comment")
			}
		}
		assert.Contains(t, all, "simt_threadIdx")
		assert.Contains(t, seen.Words, "simt_threadIdx")
		assert.Contains(t, all, "beyond", "its lines are its own, whatever it calls them")
		assert.NotContains(t, all, "namespace std", "those of headers are not")
	})
}

func TestAVettedModuleIsNotTakenFromWhatWasNot(t *testing.T) {
	dir, n := t.TempDir(), 0
	src := device.Source{Name: "k.cu", Text: `extern "C" __global__ void k(float *x) { x[0] = 1; }`}
	_, err := start(t, Options{Cache: dir}).Compile(src)
	require.NoError(t, err)
	_, err = start(t, Options{Cache: dir, Vet: func(Preprocessed) error { n++; return nil }}).Compile(src)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
}
