package attn_test

import (
	"fmt"

	"flashlab/attn"
)

// With fewer queries than keys, the last query sees all keys. A window keeps the nearest.
func ExampleShape_Sees() {
	draw := func(s attn.Shape) {
		for i := range s.SeqQ {
			for j := range s.SeqK {
				if s.Sees(i, j) {
					fmt.Print("x")
				} else {
					fmt.Print("·")
				}
			}
			fmt.Println()
		}
	}
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 3, SeqK: 5, Dim: 64, Causal: true}
	draw(s)
	s.Window = 2
	fmt.Println("window 2:")
	draw(s)
	// Output:
	// xxx··
	// xxxx·
	// xxxxx
	// window 2:
	// ·xx··
	// ··xx·
	// ···xx
}

// Grouped heads: 8 query heads share 2 key heads, so q and out are four times as large as k and v.
func ExampleShape() {
	s := attn.Shape{Batch: 2, Heads: 8, KVHeads: 2, SeqQ: 16, SeqK: 16, Dim: 32}
	fmt.Println(s)
	fmt.Println(s.QElements(), s.KVElements())
	// Output:
	// q [2, 8, 16, 32], k and v [2, 2, 16, 32], full
	// 8192 2048
}

// A cache has a slot for each token of each sequence.
func ExampleCacheShape() {
	c := attn.CacheShape{Batch: 4, MaxSeq: 1024, KVHeads: 8, Dim: 128}
	fmt.Println(c.Slot(), "values a slot,", c.Elements(), "values in k, and in v")
	// Output: 1024 values a slot, 4194304 values in k, and in v
}
