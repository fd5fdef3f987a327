package main

import "fmt"

// halving shows the largest of eight numbers found by four, two and one threads.
func halving() string {
	const cell, row = 64, 76
	values := []int{3, 7, 1, 9, 4, 8, 2, 6}
	c := &canvas{width: 760, height: 344, alt: "Eight numbers become four, two and one: in each step a thread of the first half keeps the larger of its own number and its partner's"}
	c.text(24, 22, "title", "The largest of eight, by halves: a barrier after every step")
	for y, half := 40, len(values); ; y += row {
		for i, value := range values {
			class := "plain"
			if i < half {
				class = "good"
			}
			c.box(24+i*cell, y, cell-12, 32, class)
			c.text(24+i*cell+26, y+21, "middle", "%d", value)
		}
		if half == 1 {
			c.text(550, y+21, "", "partial[0] is the largest")
			return c.String()
		}
		half /= 2
		for i := range half {
			c.line(24+i*cell+26, y+32, 24+i*cell+26, y+row)
			c.line(24+(i+half)*cell+26, y+32, 24+i*cell+30, y+row)
			values[i] = max(values[i], values[i+half])
		}
		who := fmt.Sprintf("threads 0 to %d: i and i + %d", half-1, half)
		if half == 1 {
			who = "thread 0: 0 and 1"
		}
		c.text(550, y+58, "small", "%s", who)
	}
}

// tileKind is a tile of scores under the causal mask.
type tileKind int

const (
	full tileKind = iota // every query of it sees every key
	partial
	leftOut // no query sees any
)

// kindOf is a tile's, of queries and keys from these on, size of each, if query i sees the keys 0 … i + shift.
func kindOf(query, key, size, shift int) tileKind {
	switch {
	case key+size-1 <= query+shift:
		return full
	case key <= query+size-1+shift:
		return partial
	}
	return leftOut
}

// causal shows the tiles of 16 queries and 24 keys, 4 × 4 each.
func causal() string {
	const queries, keys, size, cell, left, top = 16, 24, 4, 16, 96, 62
	c := &canvas{width: 760, height: 348, alt: "Tiles of scores under the causal mask: full below the diagonal, partial on it, left out above it"}
	c.text(24, 22, "title", "%d queries, %d keys, tiles of %d × %d: query i sees the keys 0 … i + %d", queries, keys, size, size, keys-queries)
	c.text(left, 50, "small", "keys →")
	c.text(24, top+12, "small", "queries ↓")
	var count [3]int
	classes := [3]string{"good", "part", "plain"}
	for query := 0; query < queries; query += size {
		for key := 0; key < keys; key += size {
			kind := kindOf(query, key, size, keys-queries)
			count[kind]++
			for i := range size {
				for j := range size {
					class := classes[kind]
					if key+j > query+i+keys-queries {
						class = "plain"
					}
					c.box(left+(key+j)*cell, top+(query+i)*cell, cell, cell, class)
				}
			}
		}
	}
	for i := range queries/size + 1 {
		c.line(left, top+i*size*cell, left+keys*cell, top+i*size*cell)
	}
	for j := range keys/size + 1 {
		c.line(left+j*size*cell, top, left+j*size*cell, top+queries*cell)
	}
	for kind, word := range [3]string{"full: no mask needed", "partial: mask each score", "left out: do not visit"} {
		c.box(510, top+kind*40, 18, 18, classes[kind])
		c.text(538, top+14+kind*40, "", "%d tiles %s", count[kind], word)
	}
	return c.String()
}
