package main

import (
	"fmt"
	"math"
)

// ownerOf is the thread, across and down, that holds an element of a matrix: squares of so many elements a
// side go round among so many threads across.
func ownerOf(row, col, side, across int) (tx, ty int) { return col / side % across, row / side }

// squares shows which elements of s and of acc one thread holds in registers.
func squares() string {
	const side, across, rows, keys, dim, cell, left, top = 4, 4, 16, 16, 32, 12, 70, 96
	const tx, ty = 1, 2
	c := &canvas{width: 760, height: 350, alt: "Thread (1, 2) of 4 by 4 holds rows 8 to 11 of s and columns 4 to 7, and of acc the same rows and columns 4 to 7 and 20 to 23"}
	c.text(24, 22, "title", "4 × 4 threads, 4 × 4 elements each: what thread (tx, ty) = (%d, %d) holds", tx, ty)
	grid := func(x, cols int, name string) {
		c.text(x, top-40, "", "%s [%d, %d]", name, rows, cols)
		for row := range rows {
			for col := range cols {
				class := "plain"
				if x, y := ownerOf(row, col, side, across); x == tx && y == ty {
					class = "good"
				}
				c.box(x+col*cell, top+row*cell, cell, cell, class)
			}
		}
		for i := range rows/side + 1 {
			c.line(x, top+i*side*cell, x+cols*cell, top+i*side*cell)
		}
		for i := range cols/side + 1 {
			c.line(x+i*side*cell, top, x+i*side*cell, top+rows*cell)
			if i < cols/side {
				c.text(x+i*side*cell+side*cell/2, top-8, "small middle", "%d", i%across)
			}
		}
	}
	grid(left, keys, "s: queries, keys")
	grid(left+keys*cell+60, dim, "acc: queries, numbers of the head")
	c.text(left-28, top-8, "small", "tx")
	for i := range rows / side {
		c.text(left-24, top+i*side*cell+side*cell/2+4, "small", "%d", i)
	}
	c.text(left-46, top+rows*cell/2+4, "small", "ty")
	c.text(24, top+rows*cell+24, "", "For each number of the head it reads %d of q and %d of k, for %d products. With one element it reads 2 for 1.", side, side, side*side)
	c.text(24, top+rows*cell+42, "", "Its rows of s and of acc are the same, so the factor of a row, exp(m − m'), stays in the thread.")
	return c.String()
}

// partialSum is what one warp found in its keys.
type partialSum struct{ m, l, acc float64 }

// found goes over the keys first, first + step, … below n.
func found(scores, values []float64, first, step, n int) partialSum {
	p := partialSum{m: math.Inf(-1)}
	for j := first; j < n; j += step {
		p = p.merge(partialSum{scores[j], 1, values[j]})
	}
	return p
}

// merge is the formula of task 5's handout.
func (p partialSum) merge(q partialSum) partialSum {
	m := math.Max(p.m, q.m)
	if math.IsInf(m, -1) {
		return p
	}
	a, b := math.Exp(p.m-m), math.Exp(q.m-m)
	return partialSum{m, a*p.l + b*q.l, a*p.acc + b*q.acc}
}

var (
	drawnScores = []float64{0, math.Log(2), 0, math.Log(4), 0, math.Log(2), 0}
	drawnValues = []float64{1, 2, 3, 4, 5, 6, 7}
)

// merging shows four warps with their own keys, one of them without any.
func merging() string {
	const warps, n, wide, left, top = 4, 3, 168, 24, 52
	c := &canvas{width: 760, height: 292, alt: "Four warps with their own maximum, sum and accumulator, merged once at the end; the one without a key adds nothing"}
	c.text(24, 22, "title", "%d keys, %d warps: each has its own m, l and acc, merged once at the end", n, warps)
	all := partialSum{m: math.Inf(-1)}
	for w := range warps {
		all = all.merge(found(drawnScores, drawnValues, w, warps, n))
	}
	for w := range warps {
		p := found(drawnScores, drawnValues, w, warps, n)
		x, class := left+w*(wide+12), "good"
		keys := fmt.Sprintf("key %d", w)
		if w >= n {
			class, keys = "plain", "no key"
		}
		c.box(x, top, wide, 92, class)
		c.text(x+10, top+20, "title", "warp %d: %s", w, keys)
		c.text(x+10, top+42, "", "m = %s", number(p.m))
		c.text(x+10, top+60, "", "l = %s", number(p.l))
		c.text(x+10, top+78, "", "acc = %s", number(p.acc))
		c.line(x+wide/2, top+92, x+wide/2, top+116)
		c.text(x+wide/2, top+132, "small middle", "× exp(m − %s) = %s", number(all.m), number(math.Exp(p.m-all.m)))
		c.line(x+wide/2, top+140, 380, top+166)
	}
	c.box(230, top+166, 300, 62, "part")
	c.text(246, top+188, "", "m = %s,  l = %s,  acc = %s", number(all.m), number(all.l), number(all.acc))
	c.text(246, top+212, "title", "out = acc / l = %s", number(all.acc/all.l))
	return c.String()
}

func number(x float64) string {
	if math.IsInf(x, -1) {
		return "−Inf"
	}
	return fmt.Sprintf("%.3g", x)
}
