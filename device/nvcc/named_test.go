package nvcc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/cubin"
	"flashlab/device/preprocess"
)

// named is a file with kernels of every kind that have no C linkage.
const named = `#include <cuda_fp16.h>
#include "shapes.cuh"
#define DEFINE_FILL(name, value) __global__ void name(real *x) { x[threadIdx.x] = value; }
DEFINE_FILL(ones, 1)
#if __CUDA_ARCH__ >= 900
__global__ void here(real *x) { x[0] = 1; }
#else
__global__ void there(real *x, int) { x[0] = 1; }
#endif
#if 0
__global__ void nowhere(real *x) {}
#endif
__global__ void over(float *x, int n = 3) { x[0] = n; }
__global__ void over(double *x, int n) { x[0] = n; }
static __global__ void hidden(float *x) { x[0] = 5; }
namespace {
__global__ void nameless(float *x) { x[0] = 6; }
template <int N> __global__ void namelessToo(float *x) { x[0] = N; }
}
namespace layers::deep {
template <typename T, int N> __global__ void __launch_bounds__(N) add(T *x, const T *more) { x[threadIdx.x] += more[N]; }
}
template <typename... T> __global__ void many(float *x, T... values) { x[0] = (0.f + ... + values); }
template <typename T> __global__ void twice(T *x) { x[0] = 1; }
template <typename T> __global__ void twice(T *x, const T *y, T z) { x[0] = z; }
template <typename T> __global__ void solo(T *x) { x[0] = 1; }
__global__ void take(real *x, Shape s, half h, real r, Mode m, const float *none, const long long n, bool yes, uint c) { x[0] = s.rows + m + n; }
__global__ void nothing() {}
extern "C" __global__ void plainC(float *x) { x[0] = 1; }
extern "C" { __global__ void plainToo(float *x) { x[0] = 1; } }
`

const shapes = `#pragma once
typedef float real;
enum Mode { SLOW = 3, FAST };
struct Shape { char kind; float scale; int at[2]; double rows; real *there; };
__global__ void ofTheHeader(int *x) { x[0] = 1; }
`

// compileNamed compiles a file, and lists its kernels without C linkage by what Go calls them.
func compileNamed(t *testing.T, tk *Toolkit, src device.Source) map[string]cubin.Kernel {
	t.Helper()
	code, err := tk.Compile(src, "sm_90")
	require.NoError(t, err)
	found, err := cubin.Kernels(code)
	require.NoError(t, err)
	all := map[string]cubin.Kernel{}
	for _, k := range found {
		all[k.Signature.Name] = k
	}
	return all
}

func TestKernelsAreNamed(t *testing.T) {
	tk := toolkit(t)
	all := compileNamed(t, tk, device.Source{Name: "k.cu", Text: named, Files: map[string]string{"shapes.cuh": shapes}, Kernels: []string{
		"layers::deep::add<float, 64>", "layers::deep::add<half, 1>", "namelessToo<7>", "many<int, float>", "solo<real>", "ones", "plainC"}})
	for name, want := range map[string]string{
		"ofTheHeader":                  `^_Z11ofTheHeaderPi$`,
		"ones":                         `^_Z4onesPf$`,
		"here":                         `^_Z4herePf$`,
		"over(float * x , int n)":      `^_Z4overPfi$`,
		"over(double * x , int n)":     `^_Z4overPdi$`,
		"hidden":                       `^_Z(L6|6)hiddenPf$`,
		"nameless":                     `^_ZN\d+_GLOBAL__N__.*8namelessEPf$`,
		"namelessToo<7>":               `^_ZN\d+_GLOBAL__N__.*11namelessTooILi7EEEvPf$`,
		"layers::deep::add<float, 64>": `^_ZN6layers4deep3addIfLi64EEEvPT_PKS2_$`,
		"layers::deep::add<half, 1>":   `^_ZN6layers4deep3addI6__halfLi1EEEvPT_PKS3_$`,
		"many<int, float>":             `^_Z4manyIJifEEvPfDpT_$`,

		"take":       `^_Z4take`,
		"nothing":    `^_Z7nothingv$`,
		"solo<real>": `^_Z4soloIfEvPT_$`,
	} {
		k, ok := all[name]
		if assert.True(t, ok, name) {
			assert.Regexp(t, want, k.Symbol, name)
		}
		delete(all, name)
	}
	assert.Empty(t, all, "kernels of C linkage, and those that an #if leaves out, have no constants")
}

func TestParametersOfNamedKernels(t *testing.T) {
	tk := toolkit(t)
	all := compileNamed(t, tk, device.Source{Name: "k.cu", Text: named, Files: map[string]string{"shapes.cuh": shapes},
		Kernels: []string{"layers::deep::add<float, 64>"}})
	kinds := func(name string) (kinds []device.ParamKind, sizes []int, unsigned []bool) {
		for _, p := range all[name].Signature.Params {
			kinds, sizes, unsigned = append(kinds, p.Kind), append(sizes, p.Size), append(unsigned, p.Unsigned)
		}
		return
	}
	const p, i, f, o = device.Pointer, device.Int, device.Float, device.Other
	k, sizes, unsigned := kinds("take")
	assert.Equal(t, []device.ParamKind{p, o, o, f, i, p, i, i, i}, k)
	assert.Equal(t, []int{8, 32, 2, 4, 4, 8, 8, 1, 4}, sizes)
	assert.Equal(t, []bool{false, false, false, false, false, false, false, true, true}, unsigned)
	take := all["take"].Signature
	assert.Equal(t, "Shape", take.Params[1].Type)
	assert.Equal(t, "half", take.Params[2].Elem, "so that a float may be passed")
	assert.Equal(t, 27, take.Line)
	assert.Equal(t, 0, all["ofTheHeader"].Signature.Line, "its line is not the file's")
	assert.Equal(t, "layers::deep::add<float, 64>(T * x, const T * more)", all["layers::deep::add<float, 64>"].Signature.String())
	k, sizes, _ = kinds("over(double * x , int n)")
	assert.Equal(t, []device.ParamKind{p, i}, k)
	assert.Equal(t, []int{8, 4}, sizes)
	k, _, _ = kinds("nothing")
	assert.Empty(t, k)
}

// A pack's parameters are in no text, so that all of it is the compiler's word.
func TestKindsOfParameters(t *testing.T) {
	tk := toolkit(t)
	types := []struct{ name, kind string }{
		{"bool", "u1"}, {"signed char", "i1"}, {"unsigned char", "u1"}, {"short", "i2"}, {"unsigned short", "u2"},
		{"int", "i4"}, {"unsigned", "u4"}, {"long", "i8"}, {"unsigned long", "u8"}, {"long long", "i8"}, {"unsigned long long", "u8"},
		{"float", "f4"}, {"double", "f8"}, {"Mode", "i4"}, {"Narrow", "i1"}, {"Shape", "o12"}, {"const float *", "p8"}, {"Shape **", "p8"},
	}
	const text = "enum Mode { SLOW };\nenum class Narrow : unsigned char { A };\nstruct Shape { int n[3]; };\ntemplate <class... T> __global__ void k(T... x) {}\n"
	var names, kinds []string
	for _, one := range types {
		names, kinds = append(names, one.name), append(kinds, one.kind)
	}
	asked := "k<" + strings.Join(names, ", ") + ">"
	all := compileNamed(t, tk, device.Source{Name: "k.cu", Text: text, Kernels: []string{asked}})
	assert.Equal(t, device.Signature{}.Compiled(strings.Join(kinds, " ")).Params, all[asked].Signature.Params)
}

func TestAParametersOwnWords(t *testing.T) {
	tk := toolkit(t)
	const text = "struct M { int all[32]; };\n__global__ void k(const __grid_constant__ M m, float *__restrict__ x) { x[0] = m.all[3]; }\n"
	k := compileNamed(t, tk, device.Source{Name: "k.cu", Text: text})["k"].Signature
	require.Len(t, k.Params, 2)
	assert.Equal(t, "const __grid_constant__ M", k.Params[0].Type)
	assert.Equal(t, 128, k.Params[0].Size)
	assert.Equal(t, "float", k.Params[1].Elem)
}

// Of two templates of one name the compiler takes the one that fits.
func TestTheTemplateThatFits(t *testing.T) {
	tk := toolkit(t)
	const text = "template <typename T> __global__ void k(T *x) {}\ntemplate <int N> __global__ void k(int n, double d) {}\n"
	all := compileNamed(t, tk, device.Source{Name: "k.cu", Text: text, Kernels: []string{"k<float>", "k<3>"}})
	assert.Equal(t, "_Z1kIfEvPT_", all["k<float>"].Symbol)
	assert.Equal(t, "k<float>(pointer)", all["k<float>"].Signature.String())
	assert.Equal(t, "_Z1kILi3EEvid", all["k<3>"].Symbol)
	assert.Equal(t, "k<3>(integer, float)", all["k<3>"].Signature.String())

	// The same text, out of the same cache.
	all = compileNamed(t, tk, device.Source{Name: "k.cu", Text: text, Kernels: []string{"k<4>"}})
	assert.Len(t, all, 1)
	assert.Equal(t, "_Z1kILi4EEvid", all["k<4>"].Symbol)
}

func TestWhatNamesNoKernel(t *testing.T) {
	tk := toolkit(t)
	const text = `__device__ void helper(float *x) { x[0] = 1; }
template <typename T> __global__ void typed(T *x) { x[0] = 1; }
template <typename T> __global__ void twice(T *x) { x[0] = 1; }
template <typename T> __global__ void twice(T *x, int n) { x[0] = n; }
__global__ void plain(float *x) {}
template <typename T, int N> __global__ void wrong(T *x) { x[0] = x[0].nope; }
`
	const kernels = "; it has typed, twice, plain, wrong"
	for asked, want := range map[string]string{
		"helper":          `k.cu: error: Source.Kernels asks for "helper": the file has no kernel helper` + kernels,
		"typed<3>":        `k.cu:2: error: Source.Kernels asks for "typed<3>": that does not fit typed, a template <typename T>`,
		"typed<Unknown>":  `a template <typename T>: identifier "Unknown" is undefined`,
		"twice<float>":    `k.cu:3: error: Source.Kernels asks for "twice<float>": of the file's 2 templates twice, none fits or more than one: give each a name of its own`,
		"wrong<float, 1>": `k.cu:6: error: expression must have class type but it has type "float"`,
	} {
		_, err := tk.Compile(device.Source{Name: "k.cu", Text: text, Kernels: []string{"typed<int>", asked}}, "sm_90")
		require.Error(t, err, asked)
		assert.Contains(t, strings.Split(err.Error(), "\n     ")[0], want)
		assert.NotContains(t, err.Error(), "flashlab", "nobody knows what stands behind the file")
		assert.NotContains(t, err.Error(), holdersName)
	}
}

// What is wrong with a file is said as it is without the constants behind it.
func TestFaultsOfTheFileComeFirst(t *testing.T) {
	tk := toolkit(t)
	for text, want := range map[string]string{
		"template <typename T> __global__ void k(T *x) { x[0] = nowhere; }\n": "k.cu:1: error: identifier \"nowhere\" is undefined",
		"__global__ void k(float *x) {\n  x[0] = 1;\n":                        "k.cu:2: error: expected a \"}\" before the end of the file",
		"template <typename T> __global__ void k(T *x) {\n  x[0] = 1;\n":      "k.cu:1: error: closing brace of template definition not found",
		"template <typename T> __global__ void k(T *x) {} \\":                 "",
	} {
		src := device.Source{Name: "k.cu", Text: text}
		if strings.Contains(text, "template") {
			src.Kernels = []string{"k<float>"}
		}
		_, err := tk.Compile(src, "sm_90")
		if want == "" {
			assert.NoError(t, err, text)
			continue
		}
		require.Error(t, err)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%v", err)
	}
}

// A kernel that nobody asks for, and that cannot be named, is left out: the others are found.
func TestAKernelThatCannotBeNamed(t *testing.T) {
	tk := toolkit(t)
	const text = "struct S { friend __global__ void inner(float *x); };\nnamespace a { __global__ void k(float *x) {} }\nnamespace b { __global__ void k(float *x) {} }\n" +
		"using namespace a;\nusing namespace b;\n__global__ void fine(float *x) {}\n#define over over_\n__global__ void over(int) {}\n#define over_ gone\n"
	all := compileNamed(t, tk, device.Source{Name: "k.cu", Text: text})
	assert.Contains(t, all, "fine")
	assert.Contains(t, all, "a::k")
	assert.NotContains(t, all, "over_", "a macro hides it from what stands behind the file")
}

// Kernels of C linkage are compiled as they always were.
func TestCLinkageNeedsNoConstants(t *testing.T) {
	tk := toolkit(t)
	all := compileNamed(t, tk, device.Source{Name: "scale.cu", Text: scale, Defines: map[string]string{"SCALE": "2"}})
	assert.Empty(t, all)
}

func TestNamedKernelsAreVetted(t *testing.T) {
	tk := toolkit(t)
	var seen preprocess.Text
	tk.Vet = func(p preprocess.Text) error { seen = p; return nil }
	compileNamed(t, tk, device.Source{Name: "k.cu", Text: "template <int N> __global__ void k(float *x) { x[0] = N; }\n", Kernels: []string{"k<3>"}})
	assert.Len(t, seen.Lines, 1, "the file, without what is put behind it")
	assert.Empty(t, seen.Includes)
}
