package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// kernelsWith is a file with one kernel for each of the lines, from line 3 on.
func kernelsWith(lines ...string) string {
	var b strings.Builder
	b.WriteString("#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n")
	for i, line := range lines {
		fmt.Fprintf(&b, "extern \"C\" __global__ void k%d(float *y, int n) { %s }\n", i, line)
	}
	return b.String()
}

// Each group is one file, and each of its lines must get its message. Errors that
// different stages of a compiler report cannot share a file.
var lackingCases = [][][2]string{
	{
		{`k0<<<1, 1>>>(y, n);`, "a kernel is launched here"},
		{`cudaMalloc(&y, 4);`, "cudaMalloc belongs to the host"},
		{`cuda::barrier<cuda::thread_scope_block> *b = nullptr;`, "cuda::barrier needs its header"},
		{`y[0] = texCubemapLayered<float>(n, 0.f, 0.f, 0.f, 0);`, "no texCubemapLayered: texture objects are served"},
		{`texture<float, 2> *t = nullptr;`, "no texture: texture objects are served"},
	},
	{
		{`float4 v = __shfl_sync(~0u, make_float4(1, 2, 3, 4), 0); y[0] = v.x;`, "shuffle a vector's members one by one"},
		{`long long v = 0; atomicAdd(&v, 1ll); y[0] = v;`, "CUDA has atomicAdd for int, unsigned, unsigned long long, float"},
		{`atomicMax(y, 1.f);`, "CUDA has atomicMax for int, unsigned, long long"},
		{`half h = 2; y[0] = h * 2.0f;`, "mbiguous"},
	},
	{{`float *p = (float *)calloc(n, 4); p[0] = y[1]; y[0] = p[n / 2];`, "kernels have malloc, free, and plain new and delete"}},
}

func TestWhatIsLackingIsSaidWithItsLine(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Compiler: compiler})
		for _, group := range lackingCases {
			var lines []string
			for _, c := range group {
				lines = append(lines, c[0])
			}
			var e *device.CompileError
			require.ErrorAs(t, compile(d, kernelsWith(lines...)), &e)
			for i, c := range group {
				at := slices.IndexFunc(e.Diagnostics, func(d device.Diagnostic) bool {
					return d.File == "kernels.cu" && d.Line == 3+i && strings.Contains(normalQuotes(d.Text), c[1])
				})
				assert.GreaterOrEqual(t, at, 0, "%s: want %q at line %d, got\n%v", c[0], c[1], 3+i, e)
			}
		}
		err := compile(d, "#include <cuda/latch>\n"+kernelsWith("y[0] = 1;"))
		assert.ErrorContains(t, err, "kernels.cu:1")
		assert.ErrorContains(t, err, "the simulator has no header cuda/latch")
	})
}

// What only looks like it must not be refused.
func TestWhatIsOnlyMentionedIsNotRefused(t *testing.T) {
	text := strings.Join([]string{
		`// asm("bar.sync 0;"), k<<<1, 1>>>, cudaMalloc(&p, 4), cuda::barrier, tex2D(t, 0, 0)`,
		`/* asm volatile("x"); */`,
		`#define LAUNCH(k) k<<<1, 1>>>()`,
		`#ifndef FLASHLAB_SIM`,
		`__device__ int lane() { int n; asm("mov.u32 %0, %laneid;" : "=r"(n)); return n; }`,
		`#else`,
		`__device__ int lane() { return threadIdx.x % 32; }`,
		`#endif`,
		`#if __CUDA_ARCH__ >= 900`,
		`#include <cuda/barrier>`,
		`__device__ void arrive() { asm volatile("fence.proxy.async;"); }`,
		`#endif`,
		`#if 0`,
		`coalesced_threads(); asm("exit;");`,
		`#endif`,
		`extern "C" __global__ void k(float *y, int n) {`,
		`    if (n < 0) printf("asm(\"no\"); <<<1, 1>>> cudaMalloc(&p, 4) tex2D()");`,
		`    asm volatile("" : "+r"(n) : : "memory");`,
		`    asm volatile("" ::: "memory");`,
		`    y[lane()] = n << 2 >> 1;`,
		`}`, ``}, "\n")
	forEachCompiler(t, func(t *testing.T, compiler string) {
		assert.NoError(t, compile(start(t, Options{Compiler: compiler}), text))
	})
}
