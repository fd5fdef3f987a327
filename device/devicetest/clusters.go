package devicetest

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

//go:embed clusters.cu
var clusterKernels string

// inClusters runs kernels of 8 blocks in clusters of 2 and of 4.
func inClusters(t *testing.T, b bench) {
	const blocks, threads = 8, 64
	m, err := b.Compile(device.Source{Name: "clusters.cu", Text: clusterKernels})
	require.NoError(t, err)
	b.module = m
	x := ramp[float32](blocks * threads)
	in, out := upload(t, b, "x", x), alloc[float32](t, b, "y", len(x))
	run := func(kernel string, size int) []float32 {
		b.launch(t, kernel, device.Launch{Grid: device.D1(blocks), Block: device.D1(threads), Cluster: device.D1(size)}, in, out)
		return download(t, b, out)
	}
	for _, size := range []int{2, 4} {
		want := map[string]func(block, thread int) float32{
			"places": func(block, thread int) float32 {
				rank := block % size
				return float32(1000*(block/size) + 100*rank + 10*size + size - 1 + 10000*(rank*threads+thread))
			},
			"shares": func(block, thread int) (sum float32) {
				for r := range size {
					sum += x[(block/size*size+r)*threads+63-thread]
				}
				return sum
			},
			"adds_up": func(block, _ int) (sum float32) {
				for i := range size * threads {
					sum += x[block*threads+i]
				}
				return sum
			},
			"fetches_for_all": func(block, thread int) float32 { return x[block/size*size*threads+63-thread] },
		}
		for _, kernel := range []string{"hands_over", "stores_asynchronously", "sends"} {
			want[kernel] = func(block, thread int) float32 {
				return x[(block/size*size+(block%size+size-1)%size)*threads+63-thread]
			}
		}
		for kernel, of := range want {
			for i, v := range run(kernel, size) {
				if kernel == "adds_up" && i/threads%size > 0 {
					require.Zero(t, v)
					continue
				}
				require.Equal(t, of(i/threads, i%threads), v, "%s in clusters of %d: y[%d]", kernel, size, i)
			}
		}
	}
	b.launch(t, "of_its_own", device.Launch{Grid: device.D1(blocks), Block: device.D1(threads)}, in, out)
	assert.Equal(t, float32(4), download(t, b, out)[9])
	k, err := b.module.Kernel("shares")
	require.NoError(t, err)
	for _, c := range []struct {
		size device.Dim
		why  string
	}{{device.D1(3), "no whole number of clusters"}, {device.D1(16), "no whole number"}, {device.D2(2, 2), "no whole number"}} {
		err := b.Launch(k, device.Launch{Grid: device.D1(blocks), Block: device.D1(threads), Cluster: c.size}, in, out)
		assert.ErrorIs(t, err, device.ErrLaunch)
		assert.ErrorContains(t, err, c.why)
	}
}
