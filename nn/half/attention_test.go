package half

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor/quant"
)

// rotated are q and k of a projection, as numbers [batch, count, heads + kvHeads, dim], turned; and v as it is.
func rotated[T number](qkv []float32, before []int32, turns []float64, count int, h Heads) []T {
	y, half := make([]T, len(qkv)), h.Dim/2
	for i, v := range qkv {
		row, head, d := i/h.All(), i%h.All()/h.Dim, i%h.Dim
		if y[i] = T(v); head >= h.Heads+h.KVHeads {
			continue
		}
		angle := 2 * math.Pi * turns[d%half] * float64(int(before[row/count])+row%count)
		sine, cosine := T(math.Sin(angle)), T(math.Cos(angle))
		if d < half {
			y[i] = T(v)*cosine - T(qkv[i+half])*sine
		} else {
			y[i] = T(v)*cosine + T(qkv[i-half])*sine
		}
	}
	return y
}

func TestRotate(t *testing.T) {
	r := start(t)
	for _, c := range []struct {
		batch, count, slots int
		h                   Heads
	}{{1, 1, 4, Heads{1, 1, 16}}, {3, 5, 9, Heads{4, 2, 32}}, {2, 17, 40, Heads{6, 3, 48}}, {2, 1, 7, Heads{8, 1, 128}}} {
		h, rows := c.h, c.batch*c.count
		qkv, turns, before := r.random(rows*h.All()), make([]float64, h.Dim/2), make([]int32, c.batch)
		for j := range turns {
			turns[j] = math.Pow(500000, -2*float64(j)/float64(h.Dim)) / (2 * math.Pi)
		}
		for b := range before {
			before[b] = int32(b * (c.slots - c.count) / max(c.batch-1, 1))
		}
		p := Positions{c.batch, c.count, put(r, "before", before), put(r, "turns", turns)}
		all := truth(h.Dim, rotated[float64](qkv, before, turns, c.count, h), rotated[float32](qkv, before, turns, c.count, h))

		q, k, v := r.out(rows*h.Width()), r.out(rows*h.Slot()), r.out(rows*h.Slot())
		require.NoError(t, r.Rotate(q, k, v, r.on("qkv", qkv), p, h))
		qs, ks, vs := r.read(q), r.read(k), r.read(v)
		got := make([]float32, len(qkv)) // in qkv's order again
		at := func(i int) (from []float32, heads, head, row, d int) {
			row, head, d = i/h.All(), i%h.All()/h.Dim, i%h.Dim
			switch {
			case head < h.Heads:
				return qs, h.Heads, head, row, d
			case head < h.Heads+h.KVHeads:
				return ks, h.KVHeads, head - h.Heads, row, d
			}
			return vs, h.KVHeads, head - h.Heads - h.KVHeads, row, d
		}
		for i := range got {
			from, heads, head, row, d := at(i)
			got[i] = from[((row/c.count*heads+head)*c.count+row%c.count)*h.Dim+d]
		}
		r.near(fmt.Sprintf("%+v", c), got, all)

		// Into slots: what no token has taken stays as it is.
		cache := c.batch * c.slots * h.Slot()
		old := r.random(cache)
		keys, values := r.on("keys", old), r.on("values", old)
		require.NoError(t, r.RotateInto(q, keys, values, r.on("qkv", qkv), p, h, c.slots))
		assert.Equal(t, qs, r.read(q))
		wantK, wantV := append([]float32{}, old...), append([]float32{}, old...)
		for i := range got {
			row, head, d := i/h.All(), i%h.All()/h.Dim, i%h.Dim
			slot := (row/c.count*c.slots+int(before[row/c.count])+row%c.count)*h.Slot() + d
			if head -= h.Heads; head >= h.KVHeads {
				wantV[slot+(head-h.KVHeads)*h.Dim] = got[i]
			} else if head >= 0 {
				wantK[slot+head*h.Dim] = got[i]
			}
		}
		assert.Equal(t, wantK, r.read(keys))
		assert.Equal(t, wantV, r.read(values))
	}
	r.past(Heads{2, 1, 16})
}

// past: a graph that is launched once too often writes nothing beyond the cache.
func (r *rig) past(h Heads) {
	const slots = 3
	old := r.random(slots * h.Slot())
	keys, values := r.on("keys", old), r.on("values", old)
	p := Positions{1, 1, put(r, "before", []int32{slots}), put(r, "turns", make([]float64, h.Dim/2))}
	require.NoError(r, r.RotateInto(r.out(h.Width()), keys, values, r.on("qkv", r.random(h.All())), p, h, slots))
	assert.Equal(r, old, r.read(keys))
	assert.Equal(r, old, r.read(values))
}

// attended rounds probabilities where tensor cores take them.
func attended[T number](q, k, v []float32, before []int32, count, slots int, h Heads, round func(T) T) []T {
	y := make([]T, len(q)) // [batch, count, heads, dim]
	for row := range len(q) / h.Dim {
		i, head, b := row%count, row/count%h.Heads, row/count/h.Heads
		at := func(key int) int { return ((b*slots+key)*h.KVHeads + head/(h.Heads/h.KVHeads)) * h.Dim }
		keys := int(before[b]) + i + 1
		scores, largest, sum := make([]T, keys), T(math.Inf(-1)), T(0)
		for j := range scores {
			for d := range h.Dim {
				scores[j] += T(q[row*h.Dim+d]) * T(k[at(j)+d])
			}
			scores[j] /= T(math.Sqrt(float64(h.Dim)))
			largest = max(largest, scores[j])
		}
		out := y[((b*count+i)*h.Heads+head)*h.Dim:][:h.Dim]
		for j, s := range scores {
			w := exp(s - largest)
			sum += w
			w = round(w)
			for d := range out {
				out[d] += w * T(v[at(j)+d])
			}
		}
		for d := range out {
			out[d] /= sum
		}
	}
	return y
}

func TestAttend(t *testing.T) {
	r := start(t)
	for _, c := range []struct {
		before []int32
		count  int
		slots  int
		h      Heads
	}{
		{[]int32{0}, 1, 1, Heads{1, 1, 16}}, {[]int32{0, 0}, 17, 20, Heads{4, 2, 64}}, {[]int32{112, 3, 16}, 1, 113, Heads{6, 2, 128}},
		{[]int32{5, 0}, 3, 8, Heads{3, 3, 48}}, {[]int32{1}, 2, 3, Heads{2, 1, 256}},
		{[]int32{0}, 16, 16, Heads{2, 1, 128}}, {[]int32{0}, 200, 230, Heads{2, 2, 64}}, {[]int32{63, 0, 65}, 65, 130, Heads{4, 2, 64}},
		{[]int32{1, 9}, 129, 140, Heads{2, 1, 128}}, {[]int32{300}, 17, 320, Heads{2, 1, 128}}, {[]int32{40}, 17, 64, Heads{2, 1, 32}},
	} {
		h, batch := c.h, len(c.before)
		q, k, v := r.random(batch*c.count*h.Width()), r.random(batch*c.slots*h.Slot()), r.random(batch*c.slots*h.Slot())
		for i := range q { // scores of moderate size
			q[i] /= 32
		}
		keys, values := append([]float32{}, k...), append([]float32{}, v...)
		for i := range k { // nobody reads behind a sequence's end
			if i/h.Slot()%c.slots >= int(c.before[i/h.Slot()/c.slots])+c.count {
				keys[i], values[i] = float32(math.NaN()), float32(math.NaN())
			}
		}
		out := r.out(len(q))
		p := Positions{Batch: batch, Count: c.count, Before: put(r, "before", c.before)}
		require.NoError(t, r.Attend(out, r.on("q", q), r.on("k", keys), r.on("v", values), p, h, c.slots))
		exact := func(x float64) float64 { return x }
		rounded := func(x float32) float32 {
			if c.count < promptCount {
				return x
			}
			return device.ToFloat16(x).Float32()
		}
		r.near(fmt.Sprintf("%+v", c), r.read(out), truth(h.Dim, attended(q, k, v, c.before, c.count, c.slots, h, exact), attended(q, k, v, c.before, c.count, c.slots, h, rounded)))
	}
}

// TestKeepKivi: codes, scales and lows as package quant has them, to the bit.
func TestKeepKivi(t *testing.T) {
	r := start(t)
	for _, c := range []struct{ batch, kvHeads, count, slots, dim int }{{1, 1, 1, 32, 64}, {2, 3, 70, 96, 64}, {1, 2, 64, 64, 128}, {2, 1, 31, 64, 32}} {
		h := Heads{c.kvHeads, c.kvHeads, c.dim}
		k, v := r.random(c.batch*c.count*h.Slot()), r.random(c.batch*c.count*h.Slot())
		if c.count > 40 {
			k[5], v[7*c.dim+3] = float32(math.Inf(1)), float32(math.NaN())
			for d := range c.dim {
				v[9*c.dim+d] = 2 // a token of equal numbers
			}
		}
		all := c.batch * c.slots * h.KVHeads
		codes := func(n int) device.Buffer[uint8] { return put(r, "codes", bytes.Repeat([]uint8{255}, n)) }
		halves := func(n int) Halves { // as a cache may be that was used before: NaN
			b := r.out(n)
			require.NoError(t, r.d.Set(b.Memory(), 255))
			return b
		}
		open := c.batch * kiviGroup * h.Slot()
		to := Kivi{codes(all * c.dim / 2), codes(all * c.dim / 2), halves(all / kiviGroup * c.dim), halves(all), halves(all / kiviGroup * c.dim), halves(all), halves(open), halves(open)}
		require.NoError(t, r.KeepKivi(to, r.on("k", k), r.on("v", v), c.batch, c.count, c.slots, h))
		kCodes, vCodes := fetch(r, to.K), fetch(r, to.V)
		kScales, kLows, vScales, vLows := r.read(to.KScales), r.read(to.KLows), r.read(to.VScales), r.read(to.VLows)
		kOpen, vOpen := r.read(to.KOpen), r.read(to.VOpen)
		closed := c.count / kiviGroup * kiviGroup
		code := func(codes []uint8, at int) uint8 { return codes[at/2] >> (at % 2 * 4) & 15 }
		for pair := range c.batch * c.kvHeads {
			from, to := pair*c.count*c.dim, pair*c.slots*c.dim
			for token := closed; token < c.count; token++ {
				at := (pair*kiviGroup + token%kiviGroup) * c.dim
				require.Equal(t, k[from+token*c.dim:][:c.dim], kOpen[at:at+c.dim])
				require.Equal(t, v[from+token*c.dim:][:c.dim], vOpen[at:at+c.dim])
			}
			for group := range closed / kiviGroup {
				for d := range c.dim {
					column, codes := make([]float32, kiviGroup), make([]uint8, kiviGroup)
					for i := range column {
						column[i] = k[from+(group*kiviGroup+i)*c.dim+d]
					}
					scale, low := quant.Asymmetric4(codes, column)
					at := (pair*c.slots/kiviGroup+group)*c.dim + d
					same(t, scale, kScales[at])
					same(t, low, kLows[at])
					for i, want := range codes {
						require.Equal(t, want, code(kCodes, to+(group*kiviGroup+i)*c.dim+d), "k")
					}
				}
			}
			for token := range closed {
				codes := make([]uint8, c.dim)
				scale, low := quant.Asymmetric4(codes, v[from+token*c.dim:][:c.dim])
				same(t, scale, vScales[pair*c.slots+token])
				same(t, low, vLows[pair*c.slots+token])
				for d, want := range codes {
					require.Equal(t, want, code(vCodes, to+token*c.dim+d), "v")
				}
			}
		}
	}
}

// same are equal numbers, or both NaN.
func same(t *testing.T, want, got float32) {
	t.Helper()
	if want == want || got == got {
		require.Equal(t, want, got)
	}
}
