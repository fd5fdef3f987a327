package shared

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
)

// What a grid leaves whose x and y are exchanged is told from what one leaves that is rounded down, for all tiles and
// many sizes: the first is called by its name wherever the two differ, the second never.
func TestAGridWhoseXAndYAreExchanged(t *testing.T) {
	poison, named := math.Float32frombits(judge.Poison), 0
	for _, tile := range []int{16, 32, 64, 128} {
		for _, size := range [][2]int{{113, 17}, {17, 113}, {64, 96}, {128, 64}, {1000, 2}, {33, 31}, {31, 33}, {17, 17}, {1, 1}, {5, 1000}} {
			g := give(t, Gemm("gemm_nn", false), false, 2, size[0], size[1], 3)
			s := g.c.Gemm(false)
			right, _ := Gemm64(g.in[0].Data, g.in[1].Data, s)
			left := func(rows, cols int) string { // of a grid that covers so much
				got := judge.Narrow(right)
				for i := range got {
					if i/s.N%s.M >= rows || i%s.N >= cols {
						got[i] = poison
					}
				}
				return g.Judge(g.c, g.in, got).Reason
			}
			up := func(n int) int { return (n + tile - 1) / tile * tile }
			down := func(n int) int { return n / tile * tile }
			const exchanged = "x and y of the grid exchanged?"
			says := left(up(s.N), up(s.M))
			switch rows, cols := min(up(s.N), s.M), min(up(s.M), s.N); {
			case rows == s.M && cols == s.N:
				assert.Empty(t, says)
			case says != "" && rows != down(s.M) && cols != down(s.N):
				named++
				assert.Contains(t, says, exchanged, "%v in tiles of %d", size, tile)
			}
			for _, dropped := range []string{left(down(s.M), s.N), left(s.M, down(s.N)), left(down(s.M), down(s.N))} {
				assert.NotContains(t, dropped, exchanged, "%v in tiles of %d", size, tile)
			}
		}
	}
	assert.Greater(t, named, 10)
}
