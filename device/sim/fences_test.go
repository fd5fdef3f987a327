package sim

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed testdata/fences.cu
var fenceKernels string

var (
	fencesWhen = []string{"NEVER", "EARLY", "LATE", "TWICE"}
	fencesWho  = []string{"ALL", "ONE"}
	flagsTell  = []string{"ADDS", "REDUCES", "STORES", "RAISES", "REDUCES_RELEASING", "STORES_RELEASING", "REFERS_RELEASING"}
	flagsWait  = []string{"ACQUIRES", "LOOKS", "LOADS", "REFERS", "COUNTS"}
)

// A fence orders what was done before it: of all ways to tell by a flag and to wait for it, those are races, and only
// those, that have no fence between the data and the flag, wherever another stands.
func TestFencesOrderWhatIsBeforeThem(t *testing.T) {
	type way struct {
		kernel string
		line   int // of the race that it shall have, or 0
	}
	var ways []way
	for line, text := range strings.Split(fenceKernels, "\n") {
		kernel, marked := map[bool]string{true: "blocks", false: "warps"}[strings.Contains(text, "// between blocks")], strings.Contains(text, "// between ")
		for _, when := range fencesWhen {
			for _, who := range fencesWho {
				for _, tells := range flagsTell {
					for _, waits := range flagsWait {
						if !marked || tells == "RAISES" && (waits == "REFERS" || waits == "COUNTS") {
							continue // a volatile store and an atomic race
						}
						w := way{kernel: fmt.Sprintf("%s<%s, %s, %s, %s>", kernel, when, who, tells, waits)}
						if (when == "NEVER" || when == "EARLY") && !strings.Contains(tells, "RELEASING") {
							w.line = line + 1
						}
						ways = append(ways, w)
					}
				}
			}
		}
	}
	require.Len(t, ways, 2*4*2*(7*5-2))
	bothCompilers(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		s := device.Source{Name: "fences.cu", Text: fenceKernels}
		for _, w := range ways {
			s.Kernels = append(s.Kernels, w.kernel)
		}
		m, err := d.Compile(s)
		require.NoError(t, err)
		for _, w := range ways {
			require.NoError(t, d.Reset())
			k, err := m.Kernel(w.kernel)
			require.NoError(t, err)
			var buffers []any
			for _, name := range []string{"data", "flag", "out"} {
				b, err := device.Upload(d, name, make([]int32, 64))
				require.NoError(t, err)
				buffers = append(buffers, b)
			}
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(2), Block: device.D1(64)}, buffers...), w.kernel)
			r, err := d.Report()
			require.NoError(t, err)
			if w.line == 0 {
				assert.Empty(t, r.Findings, w.kernel)
				continue
			}
			lines := byLine(r.Findings)
			assert.Equal(t, "race", lines[w.line], "%s: %v", w.kernel, r.Findings)
			if strings.HasPrefix(w.kernel, "blocks<EARLY") && strings.Contains(w.kernel, "ADDS") {
				assert.True(t, slices.ContainsFunc(r.Findings[0].Notes, func(n string) bool {
					return strings.Contains(n, "a fence makes visible only what came before it")
				}), "%s: %v", w.kernel, r.Findings)
			}
		}
	})
}

// Strong accesses of PTX's do not race with each other, nor with atomics; a plain one does with either.
func TestStrongAccessesDoNotRace(t *testing.T) {
	const text = `
__device__ void st(int *p) { asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(p) : "memory"); }
__device__ int ld(int *p) { int v; asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
extern "C" __global__ void both(int *p, int *out) { if (threadIdx.x) st(p); out[threadIdx.x] = ld(p); }
extern "C" __global__ void atomics(int *p, int *out) { atomicAdd(p, 1); out[threadIdx.x] = ld(p); st(p); }
extern "C" __global__ void plain_read(int *p, int *out) { int v = *p; st(p); out[threadIdx.x] = v; }
extern "C" __global__ void plain_write(int *p, int *out) { *p = threadIdx.x; out[threadIdx.x] = ld(p); }
`
	bothCompilers(t, func(t *testing.T, compiler string) {
		for name, races := range map[string]bool{"both": false, "atomics": false, "plain_read": true, "plain_write": true} {
			d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
			m, err := d.Compile(device.Source{Name: "strong.cu", Text: text})
			require.NoError(t, err)
			k, err := m.Kernel(name)
			require.NoError(t, err)
			p, err := device.Upload(d, "p", make([]int32, 1))
			require.NoError(t, err)
			out, err := device.Upload(d, "out", make([]int32, 64))
			require.NoError(t, err)
			require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, p, out))
			r, err := d.Report()
			require.NoError(t, err)
			assert.Equal(t, races, len(r.Findings) > 0, "%s: %v", name, r.Findings)
			for _, f := range r.Findings {
				assert.Equal(t, "race", f.Kind)
			}
		}
	})
}

// The last block to arrive sets the count back for the next launch: by then it knows of all others' atomics, if each
// came behind a fence. Who sets it back without having come to them all races.
func TestTheLastSetsTheCountBack(t *testing.T) {
	const text = `
__device__ unsigned arrive(unsigned *count) {
    unsigned earlier;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(earlier) : "l"(count) : "memory");
    return earlier;
}
extern "C" __global__ void released(unsigned *count) { if (arrive(count) + 1 == gridDim.x) *count = 0; }
extern "C" __global__ void fenced(unsigned *count) {
    __threadfence();
    if (atomicAdd(count, 1u) + 1 == gridDim.x) *count = 0;
}
extern "C" __global__ void fenced_before_a_barrier(unsigned *count) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (last && threadIdx.x == 0) *count = 0;
}
extern "C" __global__ void never_fenced(unsigned *count) { if (atomicAdd(count, 1u) + 1 == gridDim.x) *count = 0; }
extern "C" __global__ void the_first(unsigned *count) { if (arrive(count) == 0) *count = 0; }
extern "C" __global__ void beforehand(unsigned *count) {
    if (blockIdx.x == 0) *count = 0;
    atomicAdd(count, 1u);
}
`
	kernels := []struct {
		name    string
		threads int
		races   bool
	}{{"released", 1, false}, {"fenced", 1, false}, {"fenced_before_a_barrier", 64, false}, {"never_fenced", 1, true}, {"the_first", 1, true}, {"beforehand", 1, true}}
	bothCompilers(t, func(t *testing.T, compiler string) {
		for workers := 1; workers <= 3; workers++ { // in any order of blocks
			d := start(t, Options{Checks: AllChecks(), Compiler: compiler, Workers: workers})
			m, err := d.Compile(device.Source{Name: "arrive.cu", Text: text})
			require.NoError(t, err)
			for _, kernel := range kernels {
				require.NoError(t, d.Reset())
				k, err := m.Kernel(kernel.name)
				require.NoError(t, err)
				count, err := device.Upload(d, "count", make([]uint32, 1))
				require.NoError(t, err)
				require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(5), Block: device.D1(kernel.threads)}, count))
				r, err := d.Report()
				require.NoError(t, err)
				assert.Equal(t, kernel.races, len(r.Findings) > 0, "%s, %d workers: %v", kernel.name, workers, r.Findings)
			}
		}
	})
}
