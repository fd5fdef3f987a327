package nvcc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/preprocess"
)

// toolkit is the machine's; a test that needs one is skipped without it.
func toolkit(t *testing.T) *Toolkit {
	t.Helper()
	tk, err := Find()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("FLASHLAB_CACHE", t.TempDir())
	return tk
}

const scale = `extern "C" __global__ void scale(float *out) { out[threadIdx.x] *= SCALE; }`

func TestCompileAndCache(t *testing.T) {
	tk := toolkit(t)
	src := device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "(1 + 1)"}}
	first, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.Contains(t, string(first), "scale")

	// The second time needs no compiler.
	t.Setenv("PATH", "")
	again, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.Equal(t, first, again)

	for _, p := range entries(t) {
		assert.True(t, strings.HasSuffix(p, ".cubin"), "left behind: %s", p)
	}
}

func TestCompileOnBothSides(t *testing.T) {
	tk := toolkit(t)
	src := device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "3"}}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			_, err := tk.Compile(src, "sm_90")
			assert.NoError(t, err)
		})
	}
	all.Wait()
	assert.Len(t, entries(t), 1)
}

func entries(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(os.Getenv("FLASHLAB_CACHE") + "/nvcc/*")
	require.NoError(t, err)
	return found
}

func TestDifferentDefinesDifferentCode(t *testing.T) {
	tk := toolkit(t)
	one, err := tk.Compile(device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "3"}}, "sm_90")
	require.NoError(t, err)
	two, err := tk.Compile(device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "4"}}, "sm_90")
	require.NoError(t, err)
	assert.NotEqual(t, one, two)
}

func TestDefinesReachNoShell(t *testing.T) {
	tk := toolkit(t)
	trap := filepath.Join(t.TempDir(), "ran")
	for _, value := range []string{"$(touch " + trap + ")", "`touch " + trap + "`", "2;touch " + trap} {
		_, err := tk.Compile(device.Source{Name: "a.cu", Text: scale, Defines: map[string]string{"SCALE": value}}, "sm_90")
		assert.Error(t, err)
		assert.NoFileExists(t, trap)
	}
	_, err := tk.Compile(device.Source{Name: "a;touch " + trap + ";.cu", Text: scale, Defines: map[string]string{"SCALE": "1"}}, "sm_90")
	assert.ErrorContains(t, err, "file name")
	for name, value := range map[string]string{"A B": "1", "X=1": "1", "OK": "1\n#include \"/etc/passwd\"", "ON": "1 \\"} {
		_, err := tk.Compile(device.Source{Name: "a.cu", Text: scale, Defines: map[string]string{name: value}}, "sm_90")
		assert.ErrorContains(t, err, "macro")
	}
}

func TestCompileErrorsNameTheLine(t *testing.T) {
	tk := toolkit(t)
	for _, c := range []struct {
		name, text string
		line       int
		says       string
	}{
		{"undeclared", "extern \"C\" __global__ void k(float *out) {\n\n  out[0] = nowhere;\n}", 3, "nowhere"},
		{"a macro's fault", "extern \"C\" __global__ void k(float *out) {\n  out[0] = BAD;\n}", 2, "elsewhere"},
		{"include", "\n#include \"none.h\"\n", 2, "none.h"},
		{"unclosed", "extern \"C\" __global__ void k(float *out) {\n  out[0] = 1;\n", 2, "}"},
		{"PTX", "extern \"C\" __global__ void k(float *out) {\n  out[0] = 1;\n  out[1] = 2;\n  asm volatile(\"bogus.op;\");\n}", 4, "bogus"},
		{"no such function", "__device__ float f(float);\nextern \"C\" __global__ void k(float *out) {\n  out[0] = f(1);\n}", 0, "_Z1ff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tk.Compile(device.Source{Name: "kernels.cu", Text: c.text, Defines: map[string]string{"BAD": "elsewhere"}}, "sm_90")
			var wrong *device.CompileError
			require.True(t, errors.As(err, &wrong), "%v", err)
			require.NotEmpty(t, wrong.Diagnostics)
			first := wrong.Diagnostics[0]
			assert.Equal(t, fmt.Sprint("kernels.cu:", c.line), fmt.Sprint(first.File, ":", first.Line), "%v", err)
			all := err.Error()
			assert.Contains(t, all, c.says)
		})
	}
}

func TestMachineFaultsAreNoCompileErrors(t *testing.T) {
	tk := toolkit(t)
	var wrong *device.CompileError
	for _, arch := range []string{"sm_11", "H100"} {
		_, err := tk.Compile(device.Source{Name: "scale.cu", Text: scale}, arch)
		require.Error(t, err)
		assert.False(t, errors.As(err, &wrong), "%v", err)
	}
	gone := &Toolkit{Nvcc: filepath.Join(t.TempDir(), "nvcc"), Version: "13.0"}
	_, err := gone.Compile(device.Source{Name: "scale.cu", Text: scale}, "sm_90")
	require.Error(t, err)
	assert.False(t, errors.As(err, &wrong), "%v", err)
}

func TestGencode(t *testing.T) {
	for arch, want := range map[string]string{
		"sm_90":  "-gencode=arch=compute_90a,code=sm_90a",
		"sm_86":  "-gencode=arch=compute_86,code=sm_86",
		"sm_120": "-gencode=arch=compute_120,code=sm_120",
	} {
		got, err := gencode(arch)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := gencode("sm_90;ls")
	assert.Error(t, err)
}

// The course's header is next to every file, however it is included.
func TestCompileWithTensorCores(t *testing.T) {
	tk := toolkit(t)
	const body = `
extern "C" __global__ void product(float *d, const unsigned *a) {
    float sum[4] = {};
    unsigned f[4] = {a[0], a[1], a[2], a[3]};
    mma_f16(sum, f, a[4], a[5]);
    d[threadIdx.x] = sum[0];
}
`
	for _, include := range []string{`"tensorcore.h"`, "<tensorcore.h>"} {
		cubin, err := tk.Compile(device.Source{Name: "product.cu", Text: "#include " + include + body}, "sm_90")
		require.NoError(t, err)
		assert.NotEmpty(t, cubin)
	}
	_, err := tk.Compile(device.Source{Name: "product.cu", Text: "#include <tensorcore.h>" + strings.Replace(body, "sum[4]", "sum[2]", 1)}, "sm_90")
	var compile *device.CompileError
	require.ErrorAs(t, err, &compile)
	assert.Equal(t, 5, compile.Diagnostics[0].Line, "the caller's")
}

func TestCompileWithHoppersWords(t *testing.T) {
	tk := toolkit(t)
	const body = `#include <early.h>
#include <hopper.h>
extern "C" __global__ void wait(int *d, int parity) {
    __shared__ Mbarrier full;
    waitForInputs();
    if (threadIdx.x == 0) full.init(blockDim.x), fence_mbarrier_init();
    __syncthreads();
    full.arrive();
    full.wait(parity);
    d[threadIdx.x] = parity;
}
`
	_, err := tk.Compile(device.Source{Name: "wait.cu", Text: body}, "sm_90")
	require.NoError(t, err)
	for from, says := range map[string]string{
		"full.arrive();": `float d[12]; wgmma<24, __half>(d, 0, 0);`,
		"waitForInputs":  "waitForAll",
	} {
		_, err := tk.Compile(device.Source{Name: "wait.cu", Text: strings.Replace(body, from, says, 1)}, "sm_90")
		var compile *device.CompileError
		require.ErrorAs(t, err, &compile)
	}
	_, err = tk.Compile(device.Source{Name: "wait.cu", Text: body}, "sm_80")
	assert.ErrorContains(t, err, "hopper.h needs a GPU of compute capability 9.0")
}

// A source with a header of its own: what is wrong there is said of its lines, and a changed one is
// compiled anew.
func TestOwnHeaders(t *testing.T) {
	tk := toolkit(t)
	src := device.Source{Name: "k.cu", Text: "#include \"own.cuh\"\nextern \"C\" __global__ void k(float *x) { x[0] = scaled(x[1]); }\n"}
	header := func(body string) map[string]string {
		return map[string]string{"own.cuh": "#pragma once\n__device__ float scaled(float x) {\n    " + body + "\n}\n"}
	}
	src.Files = header("return 2 * x;")
	first, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	src.Files = header("return 3 * x;")
	second, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.NotEqual(t, first, second)

	src.Files = header("return nowhere * x;")
	_, err = tk.Compile(src, "sm_90")
	assert.ErrorContains(t, err, "own.cuh:3:12: error: identifier \"nowhere\" is undefined\n     3 |     return nowhere * x;")
	src.Files = header("asm volatile(\"no.such.thing;\"); return x;")
	_, err = tk.Compile(src, "sm_90")
	assert.ErrorContains(t, err, "own.cuh:3: error: assembler: ")

	src.Files = header("return 4 * x;")
	var seen preprocess.Text
	tk.Vet = func(p preprocess.Text) error { seen = p; return nil }
	_, err = tk.Compile(src, "sm_90")
	require.NoError(t, err)
	assert.Contains(t, seen.Lines, preprocess.Line{File: "own.cuh", Number: 3, Text: "    return 4 * x;"})
	assert.Equal(t, []preprocess.Line{{File: "k.cu", Number: 1, Text: "own.cuh"}}, seen.Includes)
}
