//go:build cuda

package decode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/cuda"
	"flashlab/tensor"
)

// TestWorkloads runs one step of decoding at the sizes of real models on the GPU, in
// one part and in several: random rows are held against float64, and the median of 30
// runs with a cold L2 cache is printed. FLASHLAB_WORKLOADS=1 asks for it: it takes a
// minute, and 4 GB.
func TestWorkloads(t *testing.T) {
	if os.Getenv("FLASHLAB_WORKLOADS") == "" {
		t.Skip("set FLASHLAB_WORKLOADS=1")
	}
	d, err := cuda.Open(cuda.Options{})
	require.NoError(t, err)
	defer d.Close()
	it, err := New(device.QueueOf(d))
	require.NoError(t, err)
	fmt.Printf("%s\n", d.Info().Name)
	for _, s := range []attn.DecodeShape{
		workload(4, 32, 32, 1024), workload(16, 32, 32, 1024), workload(1, 32, 32, 4096),
		workload(1, 32, 8, 4096), workload(8, 32, 8, 4096), workload(64, 32, 8, 4096), workload(1, 32, 8, 65536),
	} {
		w := newWorkload(t, d, s)
		for _, parts := range []int{1, 2, 4, 8, 16, 32, 64} {
			w.run(t, it, parts)
		}
		w.free(t)
	}
}

func workload(batch, heads, kvHeads, tokens int) attn.DecodeShape {
	return attn.DecodeShape{Heads: heads, CacheShape: attn.CacheShape{Batch: batch, MaxSeq: tokens, KVHeads: kvHeads, Dim: 128}}
}

// step is a full cache with its queries.
type step struct {
	d         device.Device
	s         attn.DecodeShape
	host      [3][]float32 // q, k, v
	q, out    device.Buffer[float32]
	cache     attn.Cache
	lengths   attn.PerSequence
	flush     device.Buffer[float32]
	allocated []device.Memory
}

func newWorkload(t *testing.T, d device.Device, s attn.DecodeShape) *step {
	t.Helper()
	w := &step{d: d, s: s, cache: attn.Cache{CacheShape: s.CacheShape}}
	q := s.Batch * s.Heads * s.Dim
	for i, b := range []*device.Buffer[float32]{&w.q, &w.cache.K, &w.cache.V} {
		w.host[i] = make([]float32, []int{q, s.Elements(), s.Elements()}[i])
		require.NoError(t, tensor.Fill(w.host[i], tensor.Normal, 7, uint32(i), 0))
		var err error
		*b, err = device.Upload(d, "qkv"[i:i+1], w.host[i])
		require.NoError(t, err)
		w.allocated = append(w.allocated, b.Memory())
	}
	var err error
	w.out, err = device.Alloc[float32](d, "out", q)
	require.NoError(t, err)
	w.flush, err = device.Alloc[float32](d, "flush", 64<<20)
	require.NoError(t, err)
	w.lengths.Host = slices.Repeat([]int{s.MaxSeq}, s.Batch)
	w.lengths.Device, err = device.Upload(d, "lengths", slices.Repeat([]int32{int32(s.MaxSeq)}, s.Batch))
	require.NoError(t, err)
	w.allocated = append(w.allocated, w.out.Memory(), w.flush.Memory(), w.lengths.Device.Memory())
	return w
}

func (w *step) free(t *testing.T) {
	for _, m := range w.allocated {
		require.NoError(t, w.d.Free(m))
	}
}

func (w *step) run(t *testing.T, it *Decode, parts int) {
	t.Helper()
	begin, err := w.d.NewEvent()
	require.NoError(t, err)
	end, err := w.d.NewEvent()
	require.NoError(t, err)
	defer func() { _, _ = begin.Close(), end.Close() }()
	var times []time.Duration
	for i := range 33 {
		require.NoError(t, w.d.Poison(w.out.Memory()))
		require.NoError(t, w.d.Set(w.flush.Memory(), byte(i))) // pushes the cache out of the L2 cache
		require.NoError(t, begin.Record())
		require.NoError(t, it.DecodeSplit(w.out, w.q, w.cache, w.s, w.lengths, parts))
		require.NoError(t, end.Record())
		took, err := end.Since(begin)
		require.NoError(t, err)
		if i >= 3 { // the first ones load the kernels and allocate
			times = append(times, took)
		}
	}
	worst := w.check(t)
	slices.Sort(times)
	median := times[len(times)/2]
	bytes := 4 * float64(2*w.s.Elements()+2*len(w.host[0]))
	micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	fmt.Printf("batch %2d, %d query and %2d key heads, %5d tokens, %2d parts: median %7.1f µs (%.1f to %.1f)  %.2f TB/s  row error %.1e\n",
		w.s.Batch, w.s.Heads, w.s.KVHeads, w.s.MaxSeq, parts, micro(median), micro(times[0]), micro(times[len(times)-1]), bytes/median.Seconds()/1e12, worst)
}

// check compares random rows with float64, and returns the largest RMS error relative
// to a row's RMS.
func (w *step) check(t *testing.T) float64 {
	t.Helper()
	got, err := w.out.CopyOut(w.d)
	require.NoError(t, err)
	worst := 0.0
	for range 16 {
		row := rand.IntN(w.s.Batch * w.s.Heads)
		diff := tensor.Compare(got[row*w.s.Dim:(row+1)*w.s.Dim], w.row(row))
		require.True(t, diff.Within(1e-5*diff.WantRMS), "row %d: %+v", row, diff)
		worst = max(worst, diff.RMS/diff.WantRMS)
	}
	return worst
}

// row is one query's attention in float64.
func (w *step) row(row int) []float64 {
	s, q := w.s, w.host[0][row*w.s.Dim:(row+1)*w.s.Dim]
	at := row/s.Heads*s.MaxSeq*s.Slot() + row%s.Heads/(s.Heads/s.KVHeads)*s.Dim
	scores, largest := make([]float64, s.MaxSeq), math.Inf(-1)
	for j := range scores {
		for x := range q {
			scores[j] += float64(q[x]) * float64(w.host[1][at+j*s.Slot()+x])
		}
		scores[j] /= math.Sqrt(float64(s.Dim))
		largest = max(largest, scores[j])
	}
	out, sum := make([]float64, s.Dim), 0.0
	for j, score := range scores {
		p := math.Exp(score - largest)
		sum += p
		for x := range out {
			out[x] += p * float64(w.host[2][at+j*s.Slot()+x])
		}
	}
	for x := range out {
		out[x] /= sum
	}
	return out
}
