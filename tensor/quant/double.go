package quant

import (
	"math"
	"slices"
)

// DoubleBlock is how many scales of NF4 share a scale of their own.
const DoubleBlock = 256

// Double are NF4's scales in eight bits each: how far they are from their mean, as one of 256
// numbers times the largest of the block.
type Double struct {
	Mean   float32
	Codes  []byte
	Scales []float32 // one for each 256
}

// DynamicTable are the numbers of eight bits. Seven times, from 10⁻⁶ to 1, a power of ten is
// divided, the first time into one part, then always into twice as many; what counts is each
// part's middle, of either sign. With 0 and 1 that makes 256.
var DynamicTable = func() (all ascending) {
	const decades = 7
	for i := range decades {
		parts := 1 << i
		factor := float32(math.Pow10(i - decades + 1))
		edges := evenly(0.1, 1, parts+1)
		for j := range parts {
			middle := factor * ((edges[j] + edges[j+1]) / 2)
			all = append(all, middle, -middle)
		}
	}
	all = append(all, 0, 1)
	slices.Sort(all)
	return all
}()

// evenly are n numbers from first to last, each rounded once: the upper half counts back from
// the end, as PyTorch does.
func evenly(first, last float32, n int) []float32 {
	x, step := make([]float32, n), (last-first)/float32(n-1)
	for i := range x {
		if i < n/2 {
			x[i] = float32(math.FMA(float64(step), float64(i), float64(first)))
		} else {
			x[i] = float32(math.FMA(-float64(step), float64(n-1-i), float64(last)))
		}
	}
	return x
}

func toDouble(scales []float32) *Double {
	d := &Double{Codes: make([]byte, len(scales)), Scales: make([]float32, Blocks(len(scales), len(scales), DoubleBlock))}
	sum := 0.0
	for _, s := range scales {
		sum += float64(s)
	}
	if len(scales) > 0 {
		d.Mean = float32(sum / float64(len(scales)))
	}
	blocks(len(scales), len(scales), DoubleBlock, func(b, from, to int) {
		apart := make([]float32, to-from)
		for i := range apart {
			apart[i] = scales[from+i] - d.Mean
		}
		d.Scales[b] = magnitude(apart)
		if d.Scales[b] == 0 {
			d.Scales[b] = 1 // all are the mean; any scale does, but for 0, by which nothing is divided
		}
		for i, x := range apart {
			d.Codes[from+i] = byte(DynamicTable.nearest(float64(x * (1 / d.Scales[b]))))
		}
	})
	return d
}

// Numbers are the scales again.
func (d *Double) Numbers() []float32 {
	x := make([]float32, len(d.Codes))
	for i, code := range d.Codes {
		x[i] = DynamicTable[code]*d.Scales[i/DoubleBlock] + d.Mean
	}
	return x
}

// Bytes is what a device holds of it.
func (d *Double) Bytes() int { return 4 + len(d.Codes) + 4*len(d.Scales) }
