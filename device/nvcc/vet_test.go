package nvcc

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/modules"
	"flashlab/device/preprocess"
)

// TestWhatIsVettedIsWhatIsCompiled: macros are expanded, by the flags of the compilation.
func TestWhatIsVettedIsWhatIsCompiled(t *testing.T) {
	tk := toolkit(t)
	var seen preprocess.Text
	tk.Vet = func(p preprocess.Text) error { seen = p; return nil }
	_, err := tk.Compile(device.Source{Name: "k.cu", Defines: map[string]string{"SCALE": "3"}, Text: `#include <math.h>
#include "tensorcore.h"
#if __CUDA_ARCH__ >= 900
#define WORD hidden
#else
#define WORD shown
#endif
__device__ int WORD = SCALE; // a comment
extern "C" __global__ void k(float *x) { x[0] = NAN; }
`}, "sm_90")
	require.NoError(t, err)
	require.Len(t, seen.Includes, 2)
	assert.Regexp(t, `/math\.h$`, seen.Includes[0].Text)
	assert.Equal(t, "tensorcore.h", seen.Includes[1].Text)
	assert.Empty(t, seen.Strange)
	all := ""
	for _, l := range seen.Lines {
		all += l.Text + "\n"
	}
	assert.Contains(t, all, "int hidden = 3;")
	assert.NotContains(t, all, "comment")
	assert.NotContains(t, all, "typedef", "headers' lines are not the file's")
}

func TestWhatIsRefusedIsNotCompiledNorCached(t *testing.T) {
	tk := toolkit(t)
	src := device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "3"}}
	_, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	no := errors.New("not this one")
	tk.Vet = func(preprocess.Text) error { return no }
	_, err = tk.Compile(src, "sm_90")
	assert.ErrorIs(t, err, no, "machine code of a text that nobody vetted is not taken")
	assert.Len(t, entries(t), 1)
}

// Nothing that one submission had compiled is handed to another, or stays.
func TestASubmissionsMachineCodeIsItsOwn(t *testing.T) {
	tk := toolkit(t)
	src := device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "3"}}
	var err error
	tk.Own, err = modules.New(SharedDir(), 1<<20, func(s device.Source) bool { return s.Defines["SCALE"] == "4" })
	require.NoError(t, err)
	machine, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.Empty(t, sharedFiles(t))
	kept, err := filepath.Glob(tk.Own.Dir + "/*.cubin")
	require.NoError(t, err)
	require.Len(t, kept, 1)

	other := *tk // another submission's, which poisons its own folder
	other.Own, err = modules.New(SharedDir(), 1<<20, tk.Own.Shared)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(other.Own.Dir, filepath.Base(kept[0])), []byte("\x7fELF of another"), 0o644))
	again, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.Equal(t, machine, again)

	src.Defines = map[string]string{"SCALE": "4"} // the course's
	_, err = tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.Len(t, sharedFiles(t), 1)
	tk.Own.Remove()
	assert.NoDirExists(t, tk.Own.Dir)

	tk.Own = &modules.Own{Dir: t.TempDir(), Bytes: 10}
	require.NoError(t, os.WriteFile(tk.Own.Dir+"/x.cubin", make([]byte, 20), 0o644))
	_, err = tk.Compile(src, "sm_90")
	assert.ErrorContains(t, err, "compile once, in New")
}

func sharedFiles(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(SharedDir() + "/*.cubin")
	require.NoError(t, err)
	return found
}
