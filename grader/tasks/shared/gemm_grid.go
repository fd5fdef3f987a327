package shared

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// swappedGrid recognises products of which only a corner was written, in as many rows as there should be columns, or the
// other way round, rounded up to whole tiles: what a grid leaves whose x and y are exchanged.
func swappedGrid(got []float32, s attn.GemmShape) string {
	rows, cols := corner(got, s)
	tall := rows < s.M && cols == s.N && tilesOf(s.N, s.M, rows) // there are more rows than columns
	wide := cols < s.N && rows == s.M && tilesOf(s.M, s.N, cols)
	switch {
	case tall:
		return fmt.Sprintf("only rows 0 to %d of %d were written, as many as %d columns take", rows-1, s.M, s.N) + swapped
	case wide:
		return fmt.Sprintf("only columns 0 to %d of %d were written, as many as %d rows take", cols-1, s.N, s.M) + swapped
	}
	return ""
}

const swapped = ": are x and y of the grid exchanged? The one that counts columns is divided from N, where the kernel is launched and in it"

// corner is the rectangle of each product that was written, and nothing but it; 0, 0 if it is no such thing.
func corner(got []float32, s attn.GemmShape) (rows, cols int) {
	written := func(i int) bool { n, _, _ := judge.Census(got[i : i+1]); return n == 0 }
	for rows < s.M && written(rows*s.N) {
		rows++
	}
	for cols < s.N && written(cols) {
		cols++
	}
	for i := range got {
		if written(i) != (i/s.N%s.M < rows && i%s.N < cols) {
			return 0, 0
		}
	}
	return rows, cols
}

// tilesOf tells whether so many rows are what whole tiles for another number of them cover, and not what is left of their
// own when the last, partial tile is dropped.
func tilesOf(other, own, covered int) bool {
	is := false
	for _, tile := range judge.Tiles {
		is = is || (other+tile-1)/tile*tile == covered
		if own/tile*tile == covered {
			return false
		}
	}
	return is
}
