//go:build cuda

package flash

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/device/cuda"
	"flashlab/tensor"
)

// TestWorkloads runs task 4's four workloads on the GPU: random rows are held
// against float64, and the median of several runs is printed. Each run has a cold
// L2 cache. FLASHLAB_WORKLOADS=1 asks for it: it takes a minute, and 26 GB.
func TestWorkloads(t *testing.T) {
	if os.Getenv("FLASHLAB_WORKLOADS") == "" {
		t.Skip("set FLASHLAB_WORKLOADS=1")
	}
	d, err := cuda.Open(cuda.Options{})
	require.NoError(t, err)
	defer d.Close()
	fmt.Printf("%s\n", d.Info().Name)
	for _, size := range []struct{ batch, seq int }{{4, 128}, {64, 4096}} {
		w := newWorkload(t, d, size.batch, size.seq)
		for _, tiles := range []Tiles{{64, 64}, {64, 32}, {128, 32}, {128, 64}, {32, 32}} {
			f, err := NewTiled(d, tiles)
			require.NoError(t, err)
			for _, causal := range []bool{false, true} {
				w.run(t, f, tiles, causal)
			}
		}
		w.free(t)
	}
}

const (
	heads = 32
	dim   = 128
)

type workload struct {
	d            device.Device
	batch, seq   int
	host         [3][]float32 // q, k, v
	q, k, v, out device.Buffer[float32]
	flush        device.Buffer[float32]
}

func newWorkload(t *testing.T, d device.Device, batch, seq int) *workload {
	t.Helper()
	w := &workload{d: d, batch: batch, seq: seq}
	n := batch * heads * seq * dim
	for i := range w.host {
		w.host[i] = make([]float32, n)
		fill(w.host[i], uint32(i))
	}
	var err error
	for i, b := range []*device.Buffer[float32]{&w.q, &w.k, &w.v} {
		*b, err = device.Upload(d, "qkv"[i:i+1], w.host[i])
		require.NoError(t, err)
	}
	w.out, err = device.Alloc[float32](d, "out", n)
	require.NoError(t, err)
	w.flush, err = device.Alloc[float32](d, "flush", 64<<20)
	require.NoError(t, err)
	return w
}

func (w *workload) free(t *testing.T) {
	for _, b := range []device.Buffer[float32]{w.q, w.k, w.v, w.out, w.flush} {
		require.NoError(t, b.Free(w.d))
	}
}

// fill makes inputs on all cores.
func fill(data []float32, stream uint32) {
	var wg sync.WaitGroup
	part := (len(data) + runtime.NumCPU() - 1) / runtime.NumCPU()
	for from := 0; from < len(data); from += part {
		wg.Go(func() {
			_ = tensor.Fill(data[from:min(from+part, len(data))], tensor.Normal, 7, stream, from)
		})
	}
	wg.Wait()
}

func (w *workload) run(t *testing.T, f *Flash, tiles Tiles, causal bool) {
	t.Helper()
	s := attn.Shape{Batch: w.batch, Heads: heads, KVHeads: heads, SeqQ: w.seq, SeqK: w.seq, Dim: dim, Causal: causal}
	runs := 20
	if w.seq > 1000 {
		runs = 3
	}
	var times []time.Duration
	for i := range runs + 1 {
		require.NoError(t, w.d.Poison(w.out.Memory()))
		require.NoError(t, w.d.Set(w.flush.Memory(), byte(i))) // pushes the inputs out of the L2 cache
		begin, err := w.d.NewEvent()
		require.NoError(t, err)
		end, err := w.d.NewEvent()
		require.NoError(t, err)
		require.NoError(t, begin.Record())
		require.NoError(t, f.Run(w.out, w.q, w.k, w.v, s))
		require.NoError(t, end.Record())
		took, err := end.Since(begin)
		require.NoError(t, err)
		if i > 0 { // the first one loads the kernel
			times = append(times, took)
		}
		_, _ = begin.Close(), end.Close()
	}
	worst := w.check(t, s)
	slices.Sort(times)
	median := times[len(times)/2]
	flops := 4 * float64(w.batch) * heads * float64(w.seq) * float64(w.seq) * dim
	if causal {
		flops /= 2
	}
	rate := flops / median.Seconds() / 1e12
	fmt.Printf("batch %2d seq %4d causal %-5v  tiles %3d×%-3d  median %10.1f µs (%.1f to %.1f, %d runs)  %5.1f TFLOP/s, %4.1f%% of 67  row error %.1e\n",
		w.batch, w.seq, causal, tiles.Queries, tiles.Keys, micro(median), micro(times[0]), micro(times[len(times)-1]), len(times), rate, 100*rate/67, worst)
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// check compares random rows of the output with float64, and returns the largest
// RMS error relative to a row's RMS.
func (w *workload) check(t *testing.T, s attn.Shape) float64 {
	t.Helper()
	worst := 0.0
	for range 24 {
		head, query := rand.IntN(w.batch*heads), rand.IntN(w.seq)
		at := (head*w.seq + query) * dim
		part, err := w.out.Slice(at, at+dim)
		require.NoError(t, err)
		got, err := part.CopyOut(w.d)
		require.NoError(t, err)
		keys := w.seq
		if s.Causal {
			keys = query + 1
		}
		diff := tensor.Compare(got, w.row(head, query, keys))
		require.True(t, diff.Within(1e-5*diff.WantRMS), "head %d query %d: %+v", head, query, diff)
		worst = max(worst, diff.RMS/diff.WantRMS)
	}
	assert.Less(t, worst, 1e-5)
	return worst
}

// row is one query's attention in float64.
func (w *workload) row(head, query, keys int) []float64 {
	q := w.host[0][(head*w.seq+query)*dim:][:dim]
	scores, largest := make([]float64, keys), math.Inf(-1)
	for j := range scores {
		k := w.host[1][(head*w.seq+j)*dim:][:dim]
		for i := range q {
			scores[j] += float64(q[i]) * float64(k[i])
		}
		scores[j] /= math.Sqrt(dim)
		largest = max(largest, scores[j])
	}
	out, sum := make([]float64, dim), 0.0
	for j, score := range scores {
		p := math.Exp(score - largest)
		sum += p
		v := w.host[2][(head*w.seq+j)*dim:][:dim]
		for i := range out {
			out[i] += p * float64(v[i])
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
