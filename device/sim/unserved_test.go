package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// An instruction that is not served takes away the kernels that come to it, and nothing else.
func TestUnservedPTXRefusesItsKernels(t *testing.T) {
	const text = `
#define UNSERVED asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%0], 128;" ::"l"(0ull));
__device__ __forceinline__ void inlined() { UNSERVED }
__device__ void by_itself() { UNSERVED }
struct Copies { __device__ static void all() { UNSERVED } };
template <int N> __device__ void by_number() { if constexpr (N > 2) UNSERVED }
__device__ void through() { inlined(); }
extern "C" __global__ void fine(float *x) { x[0] = 1; by_number<1>(); }
extern "C" __global__ void comes_to_it(float *x) { x[0] = 1; through(); }
extern "C" __global__ void has_it(float *x) { x[0] = 1; UNSERVED }
`
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "unserved.cu", Text: text})
		require.NoError(t, err)
		for kernel, line := range map[string]string{"comes_to_it": "unserved.cu:3:", "has_it": "unserved.cu:10:"} {
			_, err := m.Kernel(kernel)
			assert.ErrorContains(t, err, line, kernel)
			assert.ErrorContains(t, err, "the simulator has no PTX instruction tensormap.cp_fenceproxy", kernel)
		}
		k, err := m.Kernel("fine")
		require.NoError(t, err)
		x, err := device.Upload(d, "x", make([]float32, 1))
		require.NoError(t, err)
		assert.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, x))
	})
}

// Of a vetted file all PTX has to be understood, by its text: a kernel that comes to other PTX is refused, though it may
// not run it here, and such PTX that no kernel comes to refuses the file. What was built for others makes no difference.
func TestPTXOfAVettedFileIsUnderstood(t *testing.T) {
	const unserved, other = `asm volatile("movq %%rsp, %0;" : "=r"(n));`, "extern \"C\" __global__ void fine(unsigned *x) { x[0] = 1; }\n"
	comes := func(call string) string { return "extern \"C\" __global__ void comes(unsigned *x) { " + call + " }\n" }
	for name, c := range map[string]struct {
		text          string
		file, refused bool // for whoever vets
	}{
		"nobody's":                 {"__device__ void f(unsigned n) { " + unserved + " }\n", true, false},
		"nobody's, static":         {"static __device__ void f(unsigned n) { " + unserved + " }\n", true, false},
		"nobody's, a template":     {"template <int N> __device__ void f(unsigned n) { " + unserved + " }\n", true, false},
		"a method":                 {"struct S { static __device__ void f(unsigned n) { " + unserved + " } };\n" + comes("S::f(1);"), true, false},
		"beside what the host has": {"__device__ void f(unsigned n) { cudaDeviceSynchronize(); " + unserved + " }\n", true, false},
		"a kernel's":               {comes("unsigned n; " + unserved), false, true},
		"a function's":             {"static __device__ void f(unsigned n) { " + unserved + " }\n" + comes("f(1);"), false, true},
		"another size's":           {"template <int N> __device__ void f(unsigned n) { if constexpr (N == 16) " + unserved + " }\n" + comes("f<8>(1);"), false, true},
		"both":                     {"__device__ void f(unsigned n) { " + unserved + " }\n" + comes("unsigned n; "+unserved), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			src := device.Source{Name: "k.cu", Text: c.text + other + never()}
			for i, vet := range []func(Preprocessed) error{func(Preprocessed) error { return nil }, nil, func(Preprocessed) error { return nil }} {
				m, err := start(t, Options{Vet: vet}).Compile(src)
				if c.file && (vet != nil || name == "a method") { // what is around a method is no function, which could go
					assert.ErrorContains(t, err, "no PTX instruction movq", i)
					continue
				}
				require.NoError(t, err, i)
				_, err = m.Kernel("fine")
				assert.NoError(t, err)
				if _, err = m.Kernel("comes"); c.refused && vet != nil {
					assert.ErrorContains(t, err, "no PTX instruction movq", i)
					assert.ErrorContains(t, err, "k.cu:", i)
				}
			}
		})
	}
}

// What takes a Blackwell is refused by that word.
func TestBlackwellIsNamed(t *testing.T) {
	d := start(t, Options{})
	for _, text := range []string{
		"tcgen05.wait::ld.sync.aligned;", "tcgen05.mma.cta_group::1.kind::f16 [%0], %0, %0, %0, 0;", "cvt.rn.satfinite.e2m1x2.f32 %0, %0, %0;",
		"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0}, {%0}, {%0}, {%0};", "add.rn.f32x2 %0, %0, %0;",
		"ld.global.v8.f32 {%0}, [%0];", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0}, [%0];", "redux.sync.max.f32 %0, %0, -1;",
	} {
		_, err := d.Compile(device.Source{Name: "k.cu", Text: "extern \"C\" __global__ void k(unsigned *x) {\nasm volatile(\"" + text + "\" : \"+r\"(x[0]));\n}\n"})
		assert.ErrorContains(t, err, "k.cu:2:", text)
		assert.ErrorContains(t, err, "it needs Blackwell", text)
	}
	for _, text := range []string{"cvt.rn.f16x2.e4m3x2 %0, %0;", "ld.global.v4.f32 {%0, %0, %0, %0}, [%0];", "fma.rn.f16x2 %0, %0, %0, %0;", "redux.sync.max.s32 %0, %0, -1;"} {
		_, err := d.Compile(device.Source{Name: "k.cu", Text: "extern \"C\" __global__ void k(unsigned *x) {\nasm volatile(\"" + text + "\" : \"+r\"(x[0]));\n}\n"})
		assert.NotContains(t, strings.TrimSpace(errorText(err)), "Blackwell", text)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
