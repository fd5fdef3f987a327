package gate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/device/preprocess"
	"flashlab/internal/repo"
)

var errEnough = errors.New("enough: it need not be compiled")

// asNvccSees tells what the gate says of a file as nvcc's preprocessor leaves it.
func (r Rules) asNvccSees(t *testing.T, tk nvcc.Toolkit, src device.Source) error {
	t.Helper()
	var said error
	tk.Vet = func(p preprocess.Text) error {
		if said = r.VetPreprocessed(p); len(p.Lines) == 0 {
			said = errors.New("no line of it was seen")
		}
		return errEnough
	}
	_, err := tk.Compile(src, "sm_90")
	require.ErrorIs(t, err, errEnough, src.Name)
	return said
}

func machine(t *testing.T) nvcc.Toolkit {
	t.Helper()
	tk, err := nvcc.Find()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("FLASHLAB_CACHE", t.TempDir())
	return *tk
}

// What students may hand in today, nvcc's own words in it, is not refused.
func TestOurKernelsPassAsNvccSeesThem(t *testing.T) {
	tk := machine(t)
	root, err := repo.Root()
	require.NoError(t, err)
	n := 0
	for _, pattern := range []string{"task*/solution/*.cu", "bonus/b1_rope/solution/*.cu", "task*/solution/_versions/*/*.cu", "task*/_variants/*/solution/*.cu", "grader/trial/_bases/*/*/*.cu"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			rules := Rules{Ladder: map[string]string{}}
			shared, err := filepath.Glob(filepath.Join(filepath.Dir(file), "..", "*.cuh")) // by versions
			require.NoError(t, err)
			for _, header := range shared {
				text, err := os.ReadFile(header)
				require.NoError(t, err)
				rules.Headers = append(rules.Headers, filepath.Base(header))
				rules.Ladder[filepath.Base(header)] = Normal(string(text))
			}
			if len(rules.CheckKernel(file, string(text))) > 0 {
				continue
			}
			n++
			src := device.Source{Name: "kernels.cu", Text: Normal(string(text)), Defines: map[string]string{"BR": "64", "BC": "64", "DIM": "128", "BLOCK": "256",
				"THREADS_SOFTMAX": "512", "MOST": "32", "TILE": "128", "DEPTH": "16", "SIDE": "16",
				"SQUARE": "128", "THREADS_PIECES": "128", "THREADS_SPLIT": "256", "SLAB": "32", "STAGES": "3"}}
			assert.NoError(t, rules.asNvccSees(t, tk, src.With(rules.Ladder)), file)
		}
	}
	assert.Greater(t, n, 5)
}

// What the text hides and nvcc would compile is refused, wherever the simulator's compiler sees nothing.
func TestWhatOnlyNvccSeesIsRefused(t *testing.T) {
	tk := machine(t)
	for name, c := range map[string]struct{ text, says string }{
		"a macro of CUDA's headers": {"#if __CUDA_ARCH__ >= 900\n__global__ void m() { __asm__(\"nop;\"); }\n#endif\n", "__asm__"},
		"an attribute":              {"#ifdef __NVCC__\n__attribute__((used)) int x;\n#endif\n", "__attribute__"},
		"a header by a macro":       {"#define H <unistd.h>\n#ifdef __CUDACC__\n#include H\n#endif\nint x;\n", "unistd.h"},
		"itself by another name":    {"# 9 \"defines.h\"\nint x;\n", "#line"},
		"the header with macros":    {"#include \"defines.h\"\nint x;\n", "defines.h"},
	} {
		assert.ErrorContains(t, withHeaders.asNvccSees(t, tk, device.Source{Name: "kernels.cu", Text: c.text}), c.says, name)
		inHeader := device.Source{Name: "kernels.cu", Text: "#include \"tile.cuh\"\n", Files: map[string]string{"tile.cuh": c.text}}
		assert.ErrorContains(t, withHeaders.asNvccSees(t, tk, inHeader), c.says, name+", in a header")
	}
}
