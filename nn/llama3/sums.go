package llama3

import (
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas/gonum"
)

func dot(x, y []float32) (sum float64) {
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

func softmax(x []float64) {
	largest := math.Inf(-1)
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float64
	for i, v := range x {
		x[i] = math.Exp(v - largest)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

// linear is x [rows, in] · wᵀ + b, where w is [width, in]; b may be nil.
func linear(x, w, b []float32, in, width int) []float32 {
	n := len(x) / in
	y := make([]float32, n*width)
	var all sync.WaitGroup
	const least = 64 // columns that are worth a goroutine
	share := max(least, (width+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < width; from += share {
		all.Go(func() { columns(y, x, w, b, in, width, from, min(from+share, width)) })
	}
	all.Wait()
	return y
}

// columns computes some columns of linear's y: as gonum's product of matrices does, in half its time, for sums here run
// along whole rows. A few columns at a time stay in the cache for all rows of x.
func columns(y, x, w, b []float32, in, width, from, to int) {
	const few = 16
	var g gonum.Implementation
	for ; from < to; from += few {
		for i := range len(x) / in {
			row, out := x[i*in:(i+1)*in], y[i*width:(i+1)*width]
			for j := from; j < min(from+few, to); j++ {
				out[j] = g.Sdot(in, row, 1, w[j*in:(j+1)*in], 1)
				if b != nil {
					out[j] += b[j]
				}
			}
		}
	}
}

// norm is a new copy of x, each row divided by its root mean square, times gain.
func (r *Reference) norm(x []float32, gain string) []float32 {
	width := r.config.Width
	g := r.weights[gain]
	y := make([]float32, len(x))
	for from := 0; from < len(x); from += width {
		row := x[from : from+width]
		scale := 1 / math.Sqrt(dot(row, row)/float64(width)+r.config.Epsilon)
		for j, v := range row {
			y[from+j] = float32(float64(v)*scale) * g[j]
		}
	}
	return y
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}
