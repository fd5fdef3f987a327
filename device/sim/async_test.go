package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func counting(n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(i + 1)
	}
	return all
}

func testPieces(b bench) {
	require.NoError(b.t, b.d.Reset())
	const n = 64
	x := counting(4 * n)
	y := alloc[float32](b, "y", 5*n)
	r := b.launchShape("pieces", device.Launch{Grid: device.D1(1), Block: device.D1(n)}, upload(b, "x", x), y)
	got := download(b, y)
	for i, v := range got {
		block, t := i/n, i%n
		at := block*n + n - 1 - t
		want := float32(at + 1)
		if block == 4 {
			want = float32(t + 1)
		}
		if block == 3 { // the last t%5 of 4 elements are zero
			thread, element := (at-3*n)/4, (at-3*n)%4
			if element >= 4-thread%5 {
				want = 0
			}
		}
		require.Equal(b.t, want, v, "y[%d]", i)
	}
	// Global reads: 3 × 256 bytes, and of the fourth what is not zero:
	// threads 0 to 15 leave out 4·(t mod 5) bytes, 0+4+8+12+16 in each five.
	c := r.Launches[0]
	assert.Equal(b.t, uint64(4*256-3*40), c.GlobalRead)
	assert.Equal(b.t, uint64(4*256), c.SharedWritten)
}

func testDoubleBuffer(b bench) {
	const tiles = 5
	x := counting(64 * tiles)
	y := alloc[float32](b, "y", 64)
	b.launch("double_buffer", 64, upload(b, "x", x), y, tiles)
	for t, v := range download(b, y) {
		require.Equal(b.t, float32(64*tiles*(64*tiles+1)/2), v, "y[%d]", t)
	}
}

func testByGroup(b bench) {
	const n = 96
	y := alloc[float32](b, "y", n)
	b.launchShape("by_group", device.Launch{Grid: device.D1(1), Block: device.D1(n), Shared: 16 * n}, upload(b, "x", counting(4*n)), y)
	for t, v := range download(b, y) {
		require.Equal(b.t, float32(4*(n-1-t)+2), v, "y[%d]", t)
	}
}

func TestAsynchronousCopies(t *testing.T) {
	withModule(t, "async.cu", func(b bench) {
		testPieces(b)
		testDoubleBuffer(b)
		testByGroup(b)
	})
}

func TestTensorBugsAreFoundAtTheirLines(t *testing.T) {
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), MaxSteps: 200_000, Timeout: 5 * time.Second, Compiler: compiler})
		for _, file := range []string{"tensor_bugs.cu", "tensorcore_bugs.cu"} {
			text := readTestdata(t, file)
			want := wants(text)
			require.Len(t, want, len(device.ScanKernels(text)), "every kernel has one planted bug")
			for name, w := range want {
				r, err := run(t, d, text, name, 1)
				var kinds []string
				found := false
				for _, f := range r.Findings {
					kinds = append(kinds, f.Headline())
					found = found || f.Kind == w.Kind && f.Line == w.Line
				}
				assert.True(t, found, "%s: want %q at line %d, got %v (%v)", name, w.Kind, w.Line, kinds, err)
				assert.Len(t, kinds, 1, "%s: one bug, one finding", name)
			}
		}
	})
}

// What a pipeline's last round fetches in vain is a note; what somebody uses of it stays a finding.
func TestAPrefetchInVainIsANote(t *testing.T) {
	const text = `#include <cuda_pipeline.h>
extern "C" __global__ void in_vain(const float *x, float *y) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &x[t], 4);
    __pipeline_commit();
    for (int i = 0; i < 3; i++) {
        __pipeline_memcpy_async(&s[(i + 1) % 2][t], &x[64 * ((i + 1) % 3) + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        y[64 * i + t] = s[i % 2][t];
    }
}
extern "C" __global__ void used(const float *x, float *y) {
    __shared__ float s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4);
    y[threadIdx.x] = s[threadIdx.x];
}
`
	forEachCompiler(t, func(t *testing.T, compiler string) {
		d := start(t, Options{Checks: AllChecks(), Compiler: compiler})
		m, err := d.Compile(device.Source{Name: "prefetch.cu", Text: text})
		require.NoError(t, err)
		b := bench{t, d, m}
		x, y := upload(b, "x", counting(192)), alloc[float32](b, "y", 192)
		r := b.launch("in_vain", 64, x, y)
		assert.Empty(t, r.Findings)
		require.Len(t, r.Notes, 1)
		assert.Equal(t, 8, r.Notes[0].Line)
		assert.Contains(t, r.Notes[0].String(), "an asynchronous copy that nobody waited for: shared memory s[1][0] (4 bytes)")
		assert.Equal(t, counting(192), download(b, y))
		k, err := m.Kernel("used")
		require.NoError(t, err)
		require.NoError(t, d.Launch(k, device.Launch{Grid: device.D1(1), Block: device.D1(64)}, x, y))
		r, err = d.Report()
		require.NoError(t, err)
		assert.Equal(t, map[int]string{17: "not waited for"}, byLine(r.Findings))
	})
}

func TestACopyNotWaitedForIsExplained(t *testing.T) {
	d := start(t, Options{Checks: AllChecks()})
	text := readTestdata(t, "tensor_bugs.cu")
	for name, parts := range map[string][]string{
		"waits_for_too_few": {"read of what an asynchronous copy has yet to fill: shared memory s[1][63] (4 bytes)", "hint: __pipeline_wait_prior"},
		"lane_returned":     {"wmma::load_matrix_sync needs all 32 lanes of a warp; lane 5 has returned"},
		"stride_of_17":      {"the leading dimension is 17", "multiple of 8 elements"},
		"copies_12_bytes":   {"4, 8 or 16 bytes, not 12"},
	} {
		r, _ := run(t, d, text, name, 1)
		require.NotEmpty(t, r.Findings, name)
		for _, part := range parts {
			assert.Contains(t, r.Findings[0].String(), part)
		}
	}
}
