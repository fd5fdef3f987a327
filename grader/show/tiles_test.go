package show

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/hbm"
)

// tiledRun has a machine's record of an algorithm on q [4, 2], k and v [6, 2].
func tiledRun(t *testing.T, causal bool, forward func(s *hbm.SRAM, q, k, v, o *hbm.Matrix)) Run {
	m := hbm.New(4096)
	m.StartLog()
	r := Run{Task: "3", Case: "x/y", Passed: true, Least: 160, Tiled: &Tiled{Room: 4096, Causal: causal, Rows: 2, Keys: 3}}
	var in []*hbm.Matrix
	for name, rows := range map[string]int{"q": 4, "k": 6, "v": 6} {
		r.Tiled.Matrices = append(r.Tiled.Matrices, Shape{Name: name, Dims: []int{rows, 2}})
	}
	slices.SortFunc(r.Tiled.Matrices, func(a, b Shape) int { return strings.Index("qkv", a.Name) - strings.Index("qkv", b.Name) })
	for _, s := range r.Tiled.Matrices {
		x, err := m.Input(s.Name, s.Dims[0], 2, make([]float32, 2*s.Dims[0]))
		require.NoError(t, err)
		in = append(in, x)
	}
	o, err := m.Output("o", 4, 2, 0)
	require.NoError(t, err)
	r.Tiled.Matrices = append(r.Tiled.Matrices, Shape{Name: "o", Dims: []int{4, 2}})
	forward(m.SRAM(), in[0], in[1], in[2], o)
	require.NoError(t, m.SRAM().Err())
	r.Tiled.Record, r.Moved = m.Log(), m.Traffic().Total()
	return r
}

// loops is the algorithm without its arithmetic; skip leaves out tiles of keys.
func loops(again bool, skip func(query, key int) bool) func(s *hbm.SRAM, q, k, v, o *hbm.Matrix) {
	return func(s *hbm.SRAM, q, k, v, o *hbm.Matrix) {
		tq, kv, scores, to := s.Tile("q", 2, 2), s.Tile("kv", 3, 2), s.Tile("scores", 2, 3), s.Tile("o", 2, 2)
		for query := 0; query < 4; query += 2 {
			tq.Load(q, query)
			for key := 0; key < 6; key += 3 {
				if skip(query, key) {
					continue
				}
				if again {
					tq.Load(q, query)
				}
				kv.Load(k, key)
				part := scores.Part(2, 3)
				part.MulT(tq, kv)
				part.Scale(0.5)
				part.Mask(query + 2 - key)
				kv.Load(v, key)
				to.AddMul(part, kv)
			}
			to.Store(o, query)
		}
	}
}

func TestTilesOfARecord(t *testing.T) {
	r := tiledRun(t, false, loops(false, func(int, int) bool { return false }))
	w, err := follow(*r.Tiled)
	require.NoError(t, err)
	assert.Equal(t, []step{{0, 2, 0, 3, true, 2}, {0, 2, 3, 3, true, -1}, {2, 2, 0, 3, true, 4}, {2, 2, 3, 3, true, 1}}, w.steps)
	hidden := 0
	for _, s := range w.steps {
		hidden += s.hidden()
	}
	assert.Equal(t, 24-(3+4+5+6), hidden, "query 0 sees keys 0 to 2")
	assert.Equal(t, [][]uint64{{1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 2, 2}, {0, 0, 0, 0}}, w.read)
	assert.Equal(t, []uint64{1, 1, 1, 1}, w.written[3])
	assert.Equal(t, 4*(4+6+6+4), w.used)
	assert.Equal(t, uint64(4*2*2*2*3*2), w.flops)
	r.Tiled.Record = r.Tiled.Record[:40]
	_, err = follow(*r.Tiled)
	assert.ErrorContains(t, err, "a log of 40 bytes")
}

// What costs most, and what is missing, is said in words.
func TestWordsAboutTiles(t *testing.T) {
	all := func(int, int) bool { return false }
	for want, r := range map[string]Run{
		"k and v are read up to 2 ×":                        tiledRun(t, false, loops(false, all)),
		"q is read up to 3 ×. Load a block of queries once": tiledRun(t, false, loops(true, all)),
		"Query 2 never meets key 3, which it sees":          tiledRun(t, false, loops(false, func(q, k int) bool { return q == 2 && k == 3 })),
		"Query 1 never meets key 3, which it sees":          tiledRun(t, true, loops(false, func(q, k int) bool { return q == 0 && k == 3 })),
		"Query 0 meets key 0 more than once": tiledRun(t, false, func(s *hbm.SRAM, q, k, v, o *hbm.Matrix) {
			loops(false, all)(s, q, k, v, o)
			loops(false, all)(s, q, k, v, o)
		}),
		"The mask hides all of 1 tile of 2. End the loop over the keys before them": tiledRun(t, true, wasteful),
		"Nothing is moved twice": tiledRun(t, false, func(s *hbm.SRAM, q, k, v, o *hbm.Matrix) {
			a, b, c := s.Tile("q", 4, 2), s.Tile("k", 6, 2), s.Tile("s", 4, 6)
			a.Load(q, 0)
			b.Load(k, 0)
			c.MulT(a, b)
		}),
	} {
		page := pageOf(r, room{})
		require.NotNil(t, page.Tiles, want)
		assert.Contains(t, strings.Join(page.Tiles.Advice, "\n"), want)
		text, err := Page(r)
		require.NoError(t, err)
		assert.Contains(t, string(text), want)
		assert.Equal(t, len(page.Tiles.Tiles), strings.Count(string(text), "<rect x="))
		assert.NotContains(t, string(text), "No kernel ran")
	}
}

// wasteful makes a tile that the mask hides all of.
func wasteful(s *hbm.SRAM, q, k, v, o *hbm.Matrix) {
	a, b, c := s.Tile("q", 1, 2), s.Tile("k", 3, 2), s.Tile("s", 1, 3)
	a.Load(q, 0)
	for key := 0; key < 6; key += 3 {
		b.Load(k, key)
		c.MulT(a, b)
		c.Mask(2 - key)
	}
}

// However many tiles there are, the page stays small, and says so.
func TestManyTiles(t *testing.T) {
	r := tiledRun(t, false, func(s *hbm.SRAM, q, k, v, o *hbm.Matrix) {
		a, b, c := s.Tile("q", 1, 2), s.Tile("k", 1, 2), s.Tile("s", 1, 1)
		a.Load(q, 0)
		b.Load(k, 0)
		for range mostTiles + 5 {
			c.MulT(a, b)
		}
	})
	text, err := Page(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), "5 more are not drawn")
	assert.Less(t, len(text), 1<<20)
}

// A record that asks for what there is not ends there: nothing breaks.
func TestARecordThatIsWrong(t *testing.T) {
	r := tiledRun(t, false, loops(false, func(int, int) bool { return false }))
	for at := 0; at < len(r.Tiled.Record); at++ {
		wrong := slices.Clone(r.Tiled.Record)
		wrong[at] ^= 0x81
		one := r
		tiled := *r.Tiled
		tiled.Record, one.Tiled = wrong, &tiled
		_, err := Page(one)
		require.NoError(t, err, at)
	}
}
