package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// Blocks count themselves done and are busy for a while, until all that run at the same
// time have done so: that all were done by then is luck.
const meetings = `
__device__ int busy(int n) {
    for (int i = 0; i < 20000; i++) {
        n ^= n << 13;
        n ^= n >> 17;
    }
    return n;
}
__device__ void add(float *y, int n) {
    float sum = 0;
    for (int b = 0; b < (int)gridDim.x; b++) sum += y[b];
    y[gridDim.x + blockIdx.x] = sum + n % 2;
}
extern "C" __global__ void all_add(const float *x, float *y, int *counter) {
    if (threadIdx.x != 0) return;
    y[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    add(y, busy(atomicAdd(counter, 1)));
}
extern "C" __global__ void the_last_adds(const float *x, float *y, int *counter) {
    if (threadIdx.x != 0) return;
    y[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    int before = atomicAdd(counter, 1);
    int n = busy(before);
    if (before == (int)gridDim.x - 1) add(y, n);
}
`

func TestWhoMeetsWhomIsTheAtomicsOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		d := start(t, Options{Checks: AllChecks(), Workers: workers})
		for range 20 {
			r, err := run(t, d, meetings, "all_add", max(workers, 2))
			require.NoError(t, err)
			if assert.NotEmpty(t, r.Findings, "with %d workers", workers) {
				assert.Equal(t, "race", r.Findings[0].Kind)
			}
			r, err = run(t, d, meetings, "the_last_adds", max(workers, 2))
			require.NoError(t, err)
			assert.Empty(t, r.Findings, "with %d workers", workers)
		}
	}
}

// A block that is stopped within an atomic does not keep the others from theirs.
const endlessMeetings = `
extern "C" __global__ void never_done(float *y, int *counter) {
    __threadfence();
    while (atomicAdd(counter, 1) != -1) y[0] = 1;
}
`

func TestABlockStoppedWithinAnAtomicLetsOthersGoOn(t *testing.T) {
	for _, o := range []Options{{MaxSteps: 20_000}, {Timeout: 50 * time.Millisecond, MaxSteps: 1 << 40}} {
		o.Checks, o.Workers = AllChecks(), 4
		d := start(t, o)
		for range 10 {
			_, err := run(t, d, endlessMeetings, "never_done", 4)
			assert.ErrorIs(t, err, device.ErrFault)
		}
		_, err := run(t, d, clean, "last_block_sums", 4)
		assert.NoError(t, err)
	}
}
