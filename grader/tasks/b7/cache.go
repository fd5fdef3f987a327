package b7

import (
	"math"
	"slices"

	"flashlab/attn"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// group is how many tokens of 4 bits are quantised together.
const group = 32

// cache is a cache of 8 or 4 bits as its tensors hold it.
type cache struct {
	bits int
	s    attn.CacheShape
	// codes, [pair, slot, dim], where a pair is a sequence's key head; scales and lows; the open group.
	// Of 8 bits there are no lows, and no open group.
	k, v, kScales, vScales, kLows, vLows, kOpen, vOpen []float32
}

// tensors are those of a cache, in the order that every operation has them in.
func tensors(bits int, s attn.CacheShape) []problem.Tensor {
	codes, tokens := []int{s.Batch, s.KVHeads, s.MaxSeq, s.Dim}, []int{s.Batch, s.KVHeads, s.MaxSeq}
	half := tensor.Float16
	if bits == 8 {
		return []problem.Tensor{{Name: "K", Shape: codes, Type: tensor.Int8}, {Name: "V", Shape: codes, Type: tensor.Int8},
			{Name: "KScales", Shape: tokens, Type: half}, {Name: "VScales", Shape: tokens, Type: half}}
	}
	groups, open := []int{s.Batch, s.KVHeads, max(s.MaxSeq/group, 1), s.Dim}, []int{s.Batch, s.KVHeads, group, s.Dim}
	return []problem.Tensor{{Name: "K", Shape: codes, Type: tensor.Int4}, {Name: "V", Shape: codes, Type: tensor.Int4},
		{Name: "KScales", Shape: groups, Type: half}, {Name: "VScales", Shape: tokens, Type: half},
		{Name: "KLows", Shape: groups, Type: half}, {Name: "VLows", Shape: tokens, Type: half},
		{Name: "KOpen", Shape: open, Type: half}, {Name: "VOpen", Shape: open, Type: half}}
}

// count is how many tensors a cache has.
func count(bits int) int { return map[int]int{8: 4, 4: 8}[bits] }

// cacheOf views tensors in that order.
func cacheOf(bits int, s attn.CacheShape, t []*tensor.Tensor) cache {
	c := cache{bits: bits, s: s}
	for i, to := range c.arrays() {
		*to = t[i].Data
	}
	return c
}

func (c *cache) arrays() []*[]float32 {
	return []*[]float32{&c.k, &c.v, &c.kScales, &c.vScales, &c.kLows, &c.vLows, &c.kOpen, &c.vOpen}[:count(c.bits)]
}

// all are its numbers, one array after the other.
func (c cache) all() (x []float32) {
	for _, a := range c.arrays() {
		x = append(x, *a...)
	}
	return x
}

func (c cache) clone() cache {
	for _, a := range c.arrays() {
		*a = slices.Clone(*a)
	}
	return c
}

// way is how a cache is written: the zero value is the right one.
type way struct {
	cut      bool // codes are cut off in place of rounded
	nearest  bool // a scale is rounded to the nearest half
	raw      bool // codes are made with the scale before it became a half
	swapped  bool // the first of two codes is in a byte's high half
	early    bool // a group's scales were taken when its last token was not there yet
	byToken  bool // k is by token, as v is
	atOnce   bool // and no group is open: a token becomes codes as it comes
	from0    bool // a low is not taken off
	shift    int  // tokens are written so many slots too far
	first    bool // all sequences are as long as the first
	pair0    bool // all is written to the first key head of the first sequence
	exchange bool // k and v are exchanged
}

// half rounds to a half: a scale, of two neighbours the one nearer to 0.
func half(x float32, nearest bool) float32 {
	one := []float32{x}
	tensor.Float16.Round(one)
	if one[0] > x && !nearest {
		bits := tensor.Float16.Encode(one)
		bits[0]--
		if bits[0] == 255 {
			bits[1]--
		}
		one = tensor.Float16.Decode(bits)
	}
	return one[0]
}

// encode quantises numbers that share a scale. That is taken from some of them.
func (c cache) encode(x, from []float32, w way) (codes []float32, scale, low float32) {
	least, most, steps := -127.0, 127.0, float32(127)
	high, nan := float32(0), false
	for _, v := range from {
		nan = nan || !(math.Abs(float64(v)) <= 65504)
		high = max(high, float32(math.Abs(float64(v))))
	}
	if c.bits == 4 {
		least, most, steps = 0, 15, 15
		low, high = slices.Min(from), slices.Max(from)
	}
	codes = make([]float32, len(x))
	if nan {
		return codes, float32(math.NaN()), 0
	}
	raw := (high - low) / steps
	scale = half(raw, w.nearest)
	by := scale
	if w.raw {
		by = raw
	}
	if !(scale > 0) {
		return codes, scale, low
	}
	for i, v := range x {
		if !w.from0 {
			v -= low
		}
		n := math.RoundToEven(float64(v / by))
		if w.cut {
			n = math.Trunc(float64(v / by))
		}
		codes[i] = float32(min(max(n, least), most))
	}
	return codes, scale, low
}

// put stores codes of 4 bits as tensor.Int4 reads them, which has a sign.
func (c cache) put(to []float32, at int, code float32, w way) {
	if w.swapped && c.bits == 4 {
		at ^= 1
	}
	if c.bits == 4 && code > 7 {
		code -= 16
	}
	to[at] = code
}

// append adds a token of all key heads to a sequence that is so long.
func (c cache) append(sequence, length int, k, v []float32, w way) {
	if w.exchange {
		k, v = v, k
	}
	length += w.shift
	if length < 0 || length >= c.s.MaxSeq {
		return
	}
	dim := c.s.Dim
	for head := range c.s.KVHeads {
		pair := sequence*c.s.KVHeads + head
		if w.pair0 {
			pair = 0
		}
		a, b := k[head*dim:(head+1)*dim], v[head*dim:(head+1)*dim]
		if c.bits == 8 || w.atOnce {
			c.token(c.k, c.kScales, c.kLows, pair, length, a, w)
			c.token(c.v, c.vScales, c.vLows, pair, length, b, w)
			continue
		}
		open := pair * group * dim
		copy(c.kOpen[open+length%group*dim:], a)
		copy(c.vOpen[open+length%group*dim:], b)
		if length%group == group-1 {
			c.close(pair, length/group, w)
		}
	}
}

// token writes one that has a scale of its own.
func (c cache) token(codes, scales, lows []float32, pair, slot int, x []float32, w way) {
	at := pair*c.s.MaxSeq + slot
	n, scale, low := c.encode(x, x, w)
	for i, code := range n {
		c.put(codes, at*c.s.Dim+i, code, w)
	}
	if scales[at] = scale; lows != nil {
		lows[at] = low
	}
}

// close quantises the open group.
func (c cache) close(pair, number int, w way) {
	dim := c.s.Dim
	k, v := c.kOpen[pair*group*dim:], c.vOpen[pair*group*dim:]
	for t := range group {
		c.token(c.v, c.vScales, c.vLows, pair, number*group+t, v[t*dim:(t+1)*dim], w)
	}
	if w.byToken { // the scales of k then lie where they can
		for t := range group {
			n, scale, low := c.encode(k[t*dim:(t+1)*dim], k[t*dim:(t+1)*dim], w)
			for i, code := range n {
				c.put(c.k, (pair*c.s.MaxSeq+number*group+t)*dim+i, code, w)
			}
			at := (pair*c.s.MaxSeq/group+number)*dim + t
			c.kScales[at], c.kLows[at] = scale, low
		}
		return
	}
	for x := range dim {
		var column []float32
		for t := range group {
			column = append(column, k[t*dim+x])
		}
		from := column
		if w.early {
			from = column[:group-1]
		}
		n, scale, low := c.encode(column, from, w)
		for t, code := range n {
			c.put(c.k, (pair*c.s.MaxSeq+number*group+t)*dim+x, code, w)
		}
		at := (pair*c.s.MaxSeq/group+number)*dim + x
		c.kScales[at], c.kLows[at] = scale, low
	}
}
