package b7

import (
	"math"

	"flashlab/tensor"
)

// reading is how a cache is read: the zero value is the right one.
type reading struct {
	swapped bool                      // the first of two codes is taken from a byte's high half
	noLow   bool                      // a number is code · scale, without the low
	sign    bool                      // codes are taken for −8 … 7 (4 bits), or for 0 … 255 (8 bits)
	coded   bool                      // the open group is read as if it was in codes, too
	byToken bool                      // k is read by token, as v is, and no group is open
	scale   func(slot, slots int) int // whose scale a token has; nil for its own
	group   func(n, groups int) int   // whose scales a group of k has; nil for its own
	channel func(x, dim int) int      // whose scale a channel has; nil for its own
	open    func(slot int) int        // which row of the open group a token is; nil for its own
}

func of(f func(i, n int) int, i, n int) int {
	if f == nil {
		return i
	}
	return min(max(f(i, n), 0), n-1)
}

// numbers are k and v as they are read back, [batch, slots, kvheads, dim], up to the lengths; NaN behind.
func (c cache) numbers(lengths []int, r reading) (k, v []float32) {
	s := c.s
	k, v = make([]float32, s.Elements()), make([]float32, s.Elements())
	for at := range k {
		x, head, slot, sequence := at%s.Dim, at/s.Dim%s.KVHeads, at/s.Slot()%s.MaxSeq, at/s.Slot()/s.MaxSeq
		if slot >= lengths[sequence] {
			k[at], v[at] = float32(math.NaN()), float32(math.NaN())
			continue
		}
		pair := sequence*s.KVHeads + head
		if c.bits == 4 && slot >= lengths[sequence]/group*group && !r.coded && !r.byToken {
			row := slot % group
			if r.open != nil {
				row = min(max(r.open(slot), 0), group-1)
			}
			from := (pair*group+row)*s.Dim + x
			k[at], v[at] = c.kOpen[from], c.vOpen[from]
			continue
		}
		token, code := pair*s.MaxSeq+of(r.scale, slot, s.MaxSeq), (pair*s.MaxSeq+slot)*s.Dim+x
		if c.bits == 8 {
			k[at], v[at] = c.whole(c.k[code], r)*c.kScales[token], c.whole(c.v[code], r)*c.vScales[token]
			continue
		}
		if r.swapped {
			code ^= 1
		}
		v[at] = fused(c.whole(c.v[code], r), c.vScales[token], c.vLows[token], r)
		if r.byToken {
			k[at] = fused(c.whole(c.k[code], r), c.kScales[token], c.kLows[token], r)
			continue
		}
		channel := (pair*s.MaxSeq/group+of(r.group, slot/group, s.MaxSeq/group))*s.Dim + of(r.channel, x, s.Dim)
		k[at] = fused(c.whole(c.k[code], r), c.kScales[channel], c.kLows[channel], r)
	}
	return k, v
}

// whole is a code as the number it is.
func (c cache) whole(code float32, r reading) float32 {
	switch {
	case r.sign == (c.bits == 4) || code >= 0:
		return code
	case c.bits == 4:
		return code + 16
	}
	return code + 256
}

// fused is code · scale + low, rounded once to a half.
func fused(code, scale, low float32, r reading) float32 {
	if r.noLow {
		low = 0
	}
	exact := float64(code)*float64(scale) + float64(low) // which has at most 45 bits
	x := float32(exact)
	if back := float64(x); back != exact && exact == exact {
		// Rounded to odd, x tells the next rounding on which side of a tie the number was.
		if math.Abs(back) > math.Abs(exact) {
			x = math.Float32frombits(math.Float32bits(x) - 1)
		}
		x = math.Float32frombits(math.Float32bits(x) | 1)
	}
	one := []float32{x}
	tensor.Float16.Round(one)
	return one[0]
}
