package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/trace"
)

// often is a kernel's body with a line so many times, each for a number of its own.
func often(n int, line string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

// tables has a kernel for each table of the simulator's runtime that has a bound. With n = 0 it holds all; with
// n = 1 it does not.
var tables = []struct {
	what, body string
	shape      device.Launch
}{
	{"instructions of a launch reach memory", "if (n) {\n" + often(2100, "y[%[1]d] = x[%[1]d];") + "}", device.Launch{Grid: device.D1(1), Block: device.D1(32)}},
	{"findings and notes in a launch", "if (n) {\n" + often(4200, "y[0] = z[%d];") + "}", device.Launch{Grid: device.D1(1), Block: device.D1(1)}},
	{"findings that recur in too many blocks", "if (n || blockIdx.x < 2) {\n" + often(110, "y[0] = z[%d];") + "}", device.Launch{Grid: device.D1(39000), Block: device.D1(1)}},
	{"mbarriers in a block", `__shared__ unsigned long long bars[65];
	for (int i = 0; i < 64 + n; i++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"((unsigned)__cvta_generic_to_shared(bars + i)), "r"(1));`,
		device.Launch{Grid: device.D1(1), Block: device.D1(1)}},
	{"hands over to others", `for (int i = 0; i < 4000 + 200 * n; i++) {
		__threadfence();
		atomicAdd((int *)y, 1);
		__syncthreads();
	}`, device.Launch{Grid: device.D1(1), Block: device.D1(32)}},
	{"meetings of a warp in a block", "for (int i = 0; i < 65000 + 1000 * n; i++) __syncwarp();", device.Launch{Grid: device.D1(1), Block: device.D1(32)}},
	{"barriers of a cluster in a block", `for (int i = 0; i < 1000 + 100 * n; i++) cooperative_groups::this_cluster().sync();
	if (threadIdx.x == 0) y[blockIdx.x] = 1;`, device.Launch{Grid: device.D1(2), Block: device.D1(32), Cluster: device.D1(2)}},
	{"tell one another by mbarriers", `__shared__ unsigned long long told;
	cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
	const unsigned at = (unsigned)__cvta_generic_to_shared(&told), rank = cluster.block_rank();
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(at));
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	cluster.sync();
	if (rank == 0) {
		asm volatile("{ .reg .b32 far;\nmapa.shared::cluster.u32 far, %0, 1;\n"
			"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];\n}" : : "r"(at) : "memory");
		y[0] = 1;
	} else {
		asm volatile("{ .reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
			"@p bra DONE;\nbra AGAIN;\nDONE:\n}" : : "r"(at) : "memory");
		y[1 - n] = 2;
	}
	cluster.sync();`, device.Launch{Grid: device.D1(2), Block: device.D1(1), Cluster: device.D1(2)}},
	{"barriers of a cluster in a block", "for (int i = 0; i < 60000 + 6000 * n; i++) cooperative_groups::this_cluster().sync();",
		device.Launch{Grid: device.D1(2), Block: device.D1(1), Cluster: device.D1(2)}},
}

// TestAFullTableIsTold: what a table of the runtime could not hold is never silently fine.
func TestAFullTableIsTold(t *testing.T) {
	d := start(t, Options{Checks: AllChecks(), Workers: 1}) // which holds all by itself
	for i, table := range tables {
		m, err := d.Compile(device.Source{Name: fmt.Sprintf("table%d.cu", i), Text: "#include <cooperative_groups.h>\n" +
			"extern \"C\" __global__ void fill(volatile int *y, const int *x, const int *z, int n) {\n" + table.body + "\n}\n"})
		require.NoError(t, err)
		b := bench{t, d, m}
		k, err := m.Kernel("fill")
		require.NoError(t, err)
		for n := range 2 {
			require.NoError(t, d.Reset())
			y, x := upload(b, "y", make([]int32, 4096)), upload(b, "x", make([]int32, 4096))
			require.NoError(t, d.Launch(k, table.shape, y, x, alloc[int32](b, "z", 8192), n))
			r, err := d.Report()
			require.NoError(t, err)
			if n == 0 {
				assert.Empty(t, r.Overfull, table.what)
			} else {
				told := func(o trace.Overfull) bool { return o.Launches == 1 && strings.Contains(o.What, table.what) }
				assert.True(t, slices.ContainsFunc(r.Overfull, told), "%s: %v", table.what, r.Overfull)
			}
		}
	}
}

// TestNoFindingIsBehindNotes: notes have a bound of their own.
func TestNoFindingIsBehindNotes(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	m, err := d.Compile(device.Source{Name: "notes.cu", Text: "extern \"C\" __global__ void notes(int *y) {\n" +
		often(2200, "{ int old = y[%[1]d]; atomicCAS(y + %[1]d, old, old + 1); }") +
		"}\nextern \"C\" __global__ void more(int *y) {\n" +
		often(2200, "{ int old = y[%[1]d]; atomicCAS(y + %[1]d, old, old + 1); }") +
		"}\nextern \"C\" __global__ void race(int *y) { y[0] = threadIdx.x; }\n"})
	require.NoError(t, err)
	b := bench{t, d, m}
	y := upload(b, "y", make([]int32, 4096))
	var r *trace.Report
	for _, name := range []string{"notes", "more", "race"} {
		k, err := m.Kernel(name)
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, y))
		r, err = d.Report()
		require.NoError(t, err)
		if name != "race" {
			assert.Empty(t, r.Findings)
		}
	}
	require.NotEmpty(t, r.Findings)
	assert.Equal(t, "race", r.Findings[0].Kind)
}
