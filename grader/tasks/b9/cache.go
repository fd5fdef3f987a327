package b9

import (
	"math"

	"flashlab/nn/kit"
)

// cache is one layer's, of one sequence: the halves of each token, and what four bits make of those whose
// group was closed.
type cache struct {
	kit.Config
	kivi           bool
	k, v           []float32 // [slots, KVHeads × Dim]
	codedK, codedV []float32
}

func newCache(c kit.Config, kivi bool) *cache {
	n := c.Slots * c.KVHeads * c.Dim
	nan := make([]float32, n)
	for i := range nan {
		nan[i] = float32(math.NaN())
	}
	return &cache{Config: c, kivi: kivi, k: make([]float32, n), v: make([]float32, n), codedK: nan, codedV: append([]float32(nil), nan...)}
}

// keep writes a token, rounded to halves, and closes the group that it fills.
func keep[T real](c *cache, k, v []T, position int) {
	at := position * len(k)
	for i := range k {
		c.k[at+i], c.v[at+i] = toHalf(float32(k[i])), toHalf(float32(v[i]))
	}
	if end := position + 1; end%kit.CacheGroup == 0 {
		c.close(end - kit.CacheGroup)
	}
}

// close makes codes of a group: of K by channel, of V by token.
func (c *cache) close(from int) {
	width := c.KVHeads * c.Dim
	for i := range width {
		var all []*float32
		for t := from; t < from+kit.CacheGroup; t++ {
			c.codedK[t*width+i] = c.k[t*width+i]
			all = append(all, &c.codedK[t*width+i])
		}
		fourBits(all)
	}
	for t := from; t < from+kit.CacheGroup; t++ {
		c.token(c.codedV, c.v, t)
	}
}

// token makes codes of the heads of one token.
func (c *cache) token(to, from []float32, t int) {
	for head := range c.KVHeads {
		var all []*float32
		for i := range c.Dim {
			at := (t*c.KVHeads+head)*c.Dim + i
			to[at] = from[at]
			all = append(all, &to[at])
		}
		fourBits(all)
	}
}

// fourBits makes of numbers what is read back of their codes.
func fourBits(all []*float32) {
	low, high := *all[0], *all[0]
	for _, x := range all {
		low, high = min(low, *x), max(high, *x)
	}
	scale := toHalf((high - low) / 15)
	for _, x := range all {
		code := float32(0)
		if scale > 0 {
			code = min(max(rint((*x-low)/scale), 0), 15)
		}
		*x = code*scale + low
	}
}

// read gives keys and values of the first tokens, as attention reads them.
func (c *cache) read(tokens int, s slip) (k, v []float32) {
	n := tokens * c.KVHeads * c.Dim
	k, v = append([]float32(nil), c.k[:n]...), append([]float32(nil), c.v[:n]...)
	if !c.kivi {
		return k, v
	}
	closed := tokens / kit.CacheGroup * kit.CacheGroup * c.KVHeads * c.Dim
	copy(k, c.codedK[:closed])
	copy(v, c.codedV[:closed])
	if s.openToo {
		for t := tokens / kit.CacheGroup * kit.CacheGroup; t < tokens; t++ {
			c.token(k, c.k, t)
			c.token(v, c.v, t)
		}
	}
	return k, v
}

// attend is the attention of one token's queries to so many tokens.
func attend[T real](m kit.Config, c *cache, q []T, tokens int, s slip) []T {
	k, v := c.read(tokens, s)
	out := make([]T, len(q))
	for head := range m.Heads {
		of := head / (m.Heads / m.KVHeads) * m.Dim
		scores, largest := make([]T, tokens), T(math.Inf(-1))
		for t := range scores {
			for i := range m.Dim {
				scores[t] += q[head*m.Dim+i] * T(k[t*m.KVHeads*m.Dim+of+i])
			}
			scores[t] /= T(math.Sqrt(float64(m.Dim)))
			largest = max(largest, scores[t])
		}
		var sum T
		for t := range scores {
			scores[t] = T(math.Exp(float64(scores[t] - largest)))
			sum += scores[t]
		}
		for t, w := range scores {
			for i := range m.Dim {
				out[head*m.Dim+i] += w * T(v[t*m.KVHeads*m.Dim+of+i])
			}
		}
		for i := range m.Dim {
			out[head*m.Dim+i] /= sum
		}
	}
	return out
}
