package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func TestKernelsHaveAHeap(t *testing.T) {
	withModule(t, "heap.cu", func(b bench) {
		y := alloc[int32](b, "y", 64)
		b.launch("lists", 64, y)
		for i, v := range download(b, y) {
			require.Equal(b.t, int32(i*(i+1)/2), v)
		}
		z := alloc[float32](b, "z", 4*32)
		for range 3 { // all is freed, so there is room again
			b.launchShape("make", device.Launch{Grid: device.D1(4), Block: device.D1(32)}, int32(512<<10))
			b.launchShape("take", device.Launch{Grid: device.D1(4), Block: device.D1(32)}, z)
			for i, v := range download(b, z) {
				require.Equal(b.t, float32(i/32+i%32), v)
			}
		}
		b.launch("too_much", 1, y)
		assert.Equal(b.t, int32(1), download(b, y)[0])
	})
}

func TestAMisusedHeap(t *testing.T) {
	withModule(t, "heap.cu", func(b bench) {
		for _, c := range []struct {
			kernel, want string
			line         int
		}{
			{"beyond", "write out of bounds: global memory heap[4] (4 bytes), which holds 4", 48},
			{"after_free", "read of freed memory", 55},
			{"twice", "free: it was freed before", 70},
			{"unwritten", "read of memory that nothing has written", 75},
			{"used_up", "new: the heap of kernels has 8 MB", 81},
		} {
			require.NoError(b.t, b.d.Reset())
			y := alloc[int32](b, "y", 64)
			r, err := b.try(c.kernel, device.Launch{Grid: device.D1(1), Block: device.D1(1)}, y, int32(4))
			_ = err // a finding may stop the kernel
			require.NotEmpty(b.t, r.Findings, c.kernel)
			assert.Contains(b.t, r.Findings[0].Message, c.want)
			assert.Equal(b.t, c.line, r.Findings[0].Line, c.kernel)
		}
	})
}
