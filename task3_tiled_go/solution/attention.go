// Package tiled is the reference solution of task 3. This file stands in for
// the one of the same name one folder up.
package tiled

import (
	"fmt"
	"math"

	"flashlab/hbm"
)

// Forward is the forward pass of FlashAttention-2 (Algorithm 1) for one head.
func Forward(sram *hbm.SRAM, o, q, k, v *hbm.Matrix, br, bc int, causal bool) error {
	seqQ, seqK, dim := q.Rows(), k.Rows(), q.Cols()
	if br < 1 || bc < 1 {
		return fmt.Errorf("tiles of %d queries and %d keys: want at least 1 of each", br, bc)
	}
	br, bc = min(br, seqQ), min(bc, seqK)
	t := allocate(sram, br, bc, dim)
	offset := seqK - seqQ // query i stands beside key i + offset
	for first := 0; first < seqQ; first += br {
		rows := min(br, seqQ-first)
		b := t.part(rows, bc)
		b.q.Load(q, first)
		b.o.Fill(0)
		b.max.Fill(float32(math.Inf(-1)))
		b.sum.Fill(0)

		seen := seqK // keys from here on are hidden from all these queries
		if causal {
			seen = first + rows + offset
		}
		for key := 0; key < seen; key += bc {
			b := t.part(rows, min(bc, seen-key))
			b.kv.Load(k, key)
			b.scores.MulT(b.q, b.kv)
			b.scores.Scale(float32(1 / math.Sqrt(float64(dim))))
			if causal {
				b.scores.Mask(first + offset - key)
			}
			b.softmax()
			b.kv.Load(v, key)
			b.o.AddMul(b.scores, b.kv)
		}
		b.o.Div(b.sum) // once at the end, not in each round
		b.o.Store(o, first)
	}
	return sram.Err()
}

// tiles is all that is kept in the SRAM. k and v are never needed at once, so
// they share a tile.
type tiles struct {
	q, o   *hbm.Tile // [br, dim]; o is not divided by sum yet
	kv     *hbm.Tile // [bc, dim]
	scores *hbm.Tile // [br, bc]; later the weights
	max    *hbm.Tile // [br, 1]: the largest score of each query so far
	sum    *hbm.Tile // [br, 1]: the sum of its exponentials so far, over exp(max)
	newMax *hbm.Tile // [br, 1]
}

func allocate(sram *hbm.SRAM, br, bc, dim int) tiles {
	return tiles{
		q: sram.Tile("q", br, dim), o: sram.Tile("o", br, dim),
		kv:     sram.Tile("kv", bc, dim),
		scores: sram.Tile("scores", br, bc),
		max:    sram.Tile("max", br, 1), sum: sram.Tile("sum", br, 1), newMax: sram.Tile("newMax", br, 1),
	}
}

// elements is what allocate takes.
func elements(br, bc, dim int) int { return br*(2*dim+bc+3) + bc*dim }

// part is the tiles' first rows, for blocks that are smaller than the others.
func (t tiles) part(rows, keys int) tiles {
	dim := t.q.Cols()
	return tiles{
		q: t.q.Part(rows, dim), o: t.o.Part(rows, dim),
		kv:     t.kv.Part(keys, dim),
		scores: t.scores.Part(rows, keys),
		max:    t.max.Part(rows, 1), sum: t.sum.Part(rows, 1), newMax: t.newMax.Part(rows, 1),
	}
}

// softmax makes weights of the scores, and brings what was gathered before to the
// new maximum: all of it was relative to the old one.
func (t tiles) softmax() {
	t.newMax.Copy(t.max)
	t.newMax.MaxRows(t.scores)
	rescale := t.max // e^(old − new) ≤ 1; in the first round e^(−Inf) = 0
	rescale.Sub(t.newMax)
	rescale.Exp()

	t.scores.Sub(t.newMax)
	t.scores.Exp()
	t.sum.Mul(rescale)
	t.sum.SumRows(t.scores)
	t.o.Mul(rescale) // the paper's line 10 has the inverse here, by mistake
	t.max.Copy(t.newMax)
}

// Tiles reads k and v once for each block of queries, so it wants few blocks.
// First the fewest there can be, with a single key a tile; then equal blocks;
// then as many keys as still fit.
func Tiles(sram, seqQ, seqK, dim int) (br, bc int, err error) {
	room := sram / 4
	largest := (room - dim) / (2*dim + 1 + 3)
	if largest < 1 {
		return 0, 0, fmt.Errorf("an SRAM of %d bytes is too small for dim %d: one query and one key take %d", sram, dim, 4*elements(1, 1, dim))
	}
	blocks := (seqQ + largest - 1) / largest
	br = (seqQ + blocks - 1) / blocks
	bc = (room - br*(2*dim+3)) / (br + dim)
	return br, min(bc, seqK), nil
}
