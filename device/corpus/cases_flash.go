package corpus

import (
	"fmt"
	"math"

	"flashlab/device"
)

const flashDim = 32

// flashes are attention forward, with and without a causal mask.
func flashes() []Case {
	var cases []Case
	for _, f := range []struct {
		kernel string
		rows   int // of queries a block
		block  device.Dim
	}{
		{"flash_thread", 32, device.D1(32)}, {"flash_warp", 4, device.D2(32, 4)}, {"flash_tile", 16, device.D2(16, 16)},
	} {
		for _, n := range []int{48, 77} {
			for _, causal := range []int{0, 1} {
				if n == 48 && causal == 1 {
					continue
				}
				cases = append(cases, Case{fmt.Sprintf("%s/2x%d causal=%d", f.kernel, n, causal), []string{f.kernel}, func(b *bench) outcome {
					const heads = 2
					size := heads * n * flashDim
					q, k, v := scaled(random(30, size), 2), scaled(random(31, size), 2), random(32, size)
					scale := float32(1 / math.Sqrt(flashDim))
					o := alloc[float32](b, "o", size)
					l := device.Launch{Grid: device.D2(grid(n, f.rows), heads), Block: f.block}
					b.launch("flash.cu", f.kernel, l, upload(b, "q", q), upload(b, "k", k), upload(b, "v", v), o, n, scale, causal)
					return outcome{download(b, o), attention(q, k, v, heads, n, causal == 1), 256 * roundoff,
						"scores whose magnitudes sum to 12 or so, after 32 roundings, move the mean of values below 1 by some 2^-16"}
				}})
			}
		}
	}
	return cases
}

func attention(q, k, v []float32, heads, n int, causal bool) []float64 {
	o := make([]float64, heads*n*flashDim)
	p := make([]float64, n)
	for row := range heads * n {
		head := row / n * n
		keys := n
		if causal {
			keys = row - head + 1
		}
		largest, total := math.Inf(-1), 0.0
		for j := range keys {
			p[j] = 0
			for d := range flashDim {
				p[j] += float64(q[row*flashDim+d]) * float64(k[(head+j)*flashDim+d])
			}
			p[j] /= math.Sqrt(flashDim)
			largest = max(largest, p[j])
		}
		for j := range keys {
			p[j] = math.Exp(p[j] - largest)
			total += p[j]
		}
		for j := range keys {
			for d := range flashDim {
				o[row*flashDim+d] += p[j] / total * float64(v[(head+j)*flashDim+d])
			}
		}
	}
	return o
}
