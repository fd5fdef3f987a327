package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// never is the end of a text that no cache has.
func never() string { return fmt.Sprintf("\n// %d\n", time.Now().UnixNano()) }

// TestWhatIsVettedIsWhatIsCompiled: macros are expanded, and includes named.
func TestWhatIsVettedIsWhatIsCompiled(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		var seen Preprocessed
		d := start(t, Options{Compiler: compiler, Checks: AllChecks(), Vet: func(p Preprocessed) error { seen = p; return nil }})
		_, err := d.Compile(device.Source{Name: "k.cu", Text: `#include <cmath>
#define WORD hidden
__device__ int WORD = 1; // a comment
extern "C" __global__ void k(float *x) { printf("%f\n", x[0]); }
` + never()})
		require.NoError(t, err)
		require.Len(t, seen.Includes, 1)
		assert.Regexp(t, `/cmath$`, seen.Includes[0].Text)
		assert.Empty(t, seen.Strange)
		all := ""
		for _, l := range seen.Lines {
			all += l.Text + "\n"
			if l.Number == 3 {
				assert.Contains(t, l.Text, "int hidden = 1;")
				assert.NotContains(t, l.Text, "comment")
			}
		}
		assert.Contains(t, all, "simt_printf")
		assert.Contains(t, seen.Words, "simt_printf")
		assert.NotContains(t, all, "namespace std", "those of headers are not")
	})
}

func TestAVettedModuleIsNotTakenFromWhatWasNot(t *testing.T) {
	n := 0
	src := device.Source{Name: "k.cu", Text: `extern "C" __global__ void k(float *x) { x[0] = 1; }` + never()}
	_, err := start(t, Options{}).Compile(src)
	require.NoError(t, err)
	_, err = start(t, Options{Vet: func(Preprocessed) error { n++; return nil }}).Compile(src)
	require.NoError(t, err)
	assert.Equal(t, 2, n, "with CUDA's words and without")
	_, err = start(t, Options{Vet: func(Preprocessed) error { n++; return nil }}).Compile(src)
	require.NoError(t, err)
	assert.Equal(t, 2, n, "once is enough")
}

func TestWhatWasVettedIsTold(t *testing.T) {
	src := device.Source{Name: "k.cu", Text: `extern "C" __global__ void k(float *x) { x[0] = VALUE; }` + never(), Defines: map[string]string{"VALUE": "7"}}
	for range 2 {
		var told [][]Line
		_, err := start(t, Options{Vet: func(Preprocessed) error { return nil }, Vetted: func(of device.Source, forms [][]Line) {
			assert.Equal(t, src.Text, of.Text)
			told = forms
		}}).Compile(src)
		require.NoError(t, err)
		require.Len(t, told, 2, "from the cache, too")
		for _, lines := range told {
			assert.Contains(t, lines[0].Text, "x[0] = 7;")
		}
	}
}

func TestWhatIsRefusedOnceIsRefusedAgain(t *testing.T) {
	src := device.Source{Name: "k.cu", Text: `extern "C" __global__ void k(float *x) { x[0] = 1; }` + never()}
	_, err := start(t, Options{}).Compile(src)
	require.NoError(t, err)
	for range 2 {
		_, err = start(t, Options{Vet: func(Preprocessed) error { return errors.New("refused") }}).Compile(src)
		assert.ErrorContains(t, err, "refused")
	}
}
