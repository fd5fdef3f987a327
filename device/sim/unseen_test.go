package sim

import (
	_ "embed"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed testdata/unseen.cu
var unseenKernels string

// bothCompilers runs a test with g++ and with clang++, where they are, or with the one that CXX names;
// with one of them where time matters, for each compiles the whole simulator.
func bothCompilers(t *testing.T, test func(t *testing.T, compiler string)) {
	ran := false
	compilers := [][]string{{"g++", "g++-12"}, {"clang++", "clang++-18", "clang++-16"}}
	if named := os.Getenv("CXX"); named != "" {
		compilers = [][]string{{named}}
	}
	for _, names := range compilers {
		if ran && os.Getenv("FLASHLAB_ALL") == "" {
			break
		}
		for _, name := range names {
			if _, err := findCompiler(name); err == nil {
				t.Run(name, func(t *testing.T) {
					record.Skip(t)
					test(t, name)
				})
				ran = true
				break
			}
		}
	}
	require.True(t, ran)
}

// unseenCases lists kernel → bytes that each thread touches, from the comments.
func unseenCases(t *testing.T) map[string]uint64 {
	comment := regexp.MustCompile(`// bytes: (\d+)$`)
	named := regexp.MustCompile(`void (\w+)`)
	cases := map[string]uint64{}
	for line := range strings.Lines(unseenKernels) {
		line = strings.TrimSpace(line)
		if m := comment.FindStringSubmatch(line); m != nil {
			cases[named.FindStringSubmatch(line)[1]], _ = strconv.ParseUint(m[1], 10, 64)
		}
	}
	require.Len(t, cases, 21)
	return cases
}

func TestEveryAccessIsSeen(t *testing.T) {
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "kernels.cu", Text: unseenKernels})
		require.NoError(t, err)
		for name, bytes := range unseenCases(t) {
			t.Run(name, func(t *testing.T) {
				k, err := m.Kernel(name)
				require.NoError(t, err)
				launch := func(times, shift int) (counted uint64, kinds []string, lines []int) {
					require.NoError(t, d.Reset())
					y, err := device.Upload(d, "y", make([]float32, 32*16))
					require.NoError(t, err)
					out, err := device.Alloc[float32](d, "out", 32)
					require.NoError(t, err)
					_ = d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, y, times, shift, out)
					r, err := d.Report()
					require.NoError(t, err)
					for _, f := range r.Findings {
						kinds, lines = append(kinds, f.Kind), append(lines, f.Line)
					}
					for _, l := range r.Launches {
						counted += l.GlobalRead + l.GlobalWritten
					}
					return counted, kinds, lines
				}
				want := 32 * bytes
				if strings.HasPrefix(name, "read_") {
					want += 32 * 4 // out
				}
				counted, kinds, _ := launch(1, 0)
				assert.Empty(t, kinds)
				assert.Equal(t, want, counted)
				_, kinds, lines := launch(1, 1<<20)
				assert.Equal(t, []string{"out of bounds"}, kinds)
				assert.NotContains(t, lines, 0)
				if strings.HasPrefix(name, "write_") {
					_, kinds, _ = launch(0, 0)
					assert.Contains(t, kinds, "race")
				}
			})
		}
	})
}

func TestNothingPassesForTheSimulatorsOwn(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	const kernel = "extern \"C\" __global__ void k(float *y) { y[0] = 1; }\n"
	for text, want := range map[string]string{
		kernel + "#line 3 \"simt/atomics.h\"\n":                            "kernels.cu:2: error: #line",
		kernel + "/* a\n */ # /* b */ line 3\n":                            "#line",
		kernel + "extern \"C\" __device__ void simt_saw_write4() {}\n":     "simulator's own function",
		kernel + "extern \"C\" __device__ void __tsan_write4(void *) {}\n": "simulator's own function",
		kernel + "extern \"C\" __device__ void simt_fence() {}":            "simulator's own function",
	} {
		assert.ErrorContains(t, compile(d, text), want, text)
	}
	// A function that only has the name of one of the simulator's is watched.
	r, _ := run(t, d, "namespace simt { struct Mine {}; template <class T, class F> __device__ __attribute__((noinline, no_sanitize(\"thread\"))) T update(T *p, F next, Mine) { return *p = next(*p); } }\n"+
		"extern \"C\" __global__ void sneaks(float *y) { simt::update(y + 1000, [](float x) { return x + 1; }, simt::Mine()); }\n", "sneaks", 1)
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "out of bounds", r.Findings[0].Kind)
}

// What a kernel's file has the compiler inline into functions of the simulator's is watched there.
func TestWhatTheSimulatorsOwnInlineIsSeen(t *testing.T) {
	const fragment = `
#include <mma.h>
__shared__ float *wild;
namespace nvcuda::wmma {
template <class Use> struct fragment<Use, 16, 16, 16, long, row_major> : fragment<Use, 16, 16, 16, half, row_major> {
    static __device__ __forceinline__ float factor(half v) { return *wild = 1; }
};
}
extern "C" __global__ void k(float *y) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, long, row_major> a;
    fragment<matrix_b, 16, 16, 16, long, row_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    wild = y + 1000;
    mma_sync(c, a, b, c);
}`
	forEachCompiler(t, func(t *testing.T, compiler string) {
		for name, text := range map[string]string{
			"a kernel":            `extern "C" __global__ __forceinline__ void k(float *y) { y[1000] = 1; }`,
			"a fragment's number": fragment,
		} {
			d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
			r, _ := run(t, d, text, "k", 1)
			require.NotEmpty(t, r.Findings, name)
			assert.Equal(t, "out of bounds", r.Findings[0].Kind, name)
		}
	})
}
