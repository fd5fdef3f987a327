package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/similar"
)

func TestPairsStandSideBySide(t *testing.T) {
	all := written(t, sample(t, 60))
	page := all[Report]
	assert.Equal(t, 29+29+29+31, strings.Count(page, "<mark>    x["), "what matches is marked on either side")
	assert.Contains(t, page, `<div><b>12</b><mark>    x[12] = 1.0f; // first&#39;s</mark></div>`)
	assert.Contains(t, page, `<div><b>15</b><mark>    x[15] = 1.0f; &lt;script&gt;alert(1)&lt;/script&gt;</mark></div>`)
	assert.Contains(t, page, `<div><b>41</b><span>    x[41] = 1.0f;`, "a line of one's own is not marked")
	assert.Contains(t, page, `<code>attention.go</code>, lines 30 to 52, and <code>attention.go</code>, lines 41 to 63</p>`, "without its text, a stretch has its lines' numbers")
	for name, other := range all {
		if name != Report {
			assert.NotContains(t, other, `class="beside"`, name)
		}
	}
}

func TestAStretchInPieces(t *testing.T) {
	text := strings.Split(strings.Repeat("x\r\n", 60), "\n")
	r := similar.Range{FromA: 5, ToA: 30, FromB: 6, ToB: 50, Same: []similar.Same{{FromA: 5, ToA: 9, FromB: 6, ToB: 10}, {FromA: 9, ToA: 12, FromB: 30, ToB: 33}, {FromA: 15, ToA: 30, FromB: 34, ToB: 49}}}
	numbers := func(lines []textLine) (all []int) {
		for _, l := range lines {
			all = append(all, l.Number-l.Left)
		}
		return all
	}
	s := stretchOf(r, text, text, &room{100, 100})
	require.Len(t, s.Pieces, 5)
	assert.Equal(t, []int{5, 6, 7, 8, 9}, numbers(s.Pieces[0].A))
	assert.Equal(t, piece{A: nil, B: s.Pieces[1].B}, s.Pieces[1])
	assert.Equal(t, []int{11, 12, 13, 14, 15, 16, -13}, numbers(s.Pieces[1].B), "of many lines of one's own the last are counted")
	assert.Equal(t, []int{10, 11, 12}, numbers(s.Pieces[2].A), "no line stands there twice")
	assert.Equal(t, []int{13, 14}, numbers(s.Pieces[3].A))
	assert.Equal(t, []bool{true, false, true, false, true}, []bool{s.Pieces[0].Match, s.Pieces[1].Match, s.Pieces[2].Match, s.Pieces[3].Match, s.Pieces[4].Match})
	assert.Equal(t, 1, s.Left)

	free := &room{100, 7}
	s = stretchOf(r, text, text, free)
	assert.Len(t, s.Pieces, 3, "one piece more than there is room for, and that one cut")
	assert.Equal(t, []int{10, -2}, numbers(s.Pieces[2].A))
	assert.LessOrEqual(t, free.left(), 0)
	assert.Equal(t, 18, s.Left)
	assert.Empty(t, stretchOf(r, nil, text, &room{9, 9}).Pieces)
}

func TestTextsOfPairsAreBounded(t *testing.T) {
	a, b := similar.Origin{ID: "a"}, similar.Origin{ID: "b"}
	long := map[string][]byte{"t/k.cu": []byte(strings.Repeat(strings.Repeat("<", 1000)+"\n", 3000))}
	var pairs []similar.Pair
	for range 60 {
		pairs = append(pairs, similar.Pair{A: a, B: b, Tasks: []similar.Shared{{Ranges: []similar.Range{{FileA: "t/k.cu", FromA: 1, ToA: 3000, FileB: "t/k.cu", FromB: 1, ToB: 3000, Same: []similar.Same{{FromA: 1, ToA: 3000, FromB: 1, ToB: 3000}}}}}}})
	}
	lines := 0
	for _, p := range sideBySide(pairs, map[similar.Origin]map[string][]byte{a: long, b: long}, &room{page: pageLines}) {
		for _, one := range p.Shared[0].Stretches[0].Pieces {
			lines += len(one.A)
			assert.LessOrEqual(t, len([]rune(one.A[0].Text)), pairColumns)
		}
	}
	assert.InDelta(t, pageLines, lines, 100)
}
