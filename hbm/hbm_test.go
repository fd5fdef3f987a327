package hbm

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func machine(t *testing.T) (*Machine, *SRAM, *Matrix, *Matrix) {
	t.Helper()
	m := New(400)
	x, err := m.Input("x", 3, 2, []float32{1, 2, 3, 4, 5, 6})
	require.NoError(t, err)
	y, err := m.Output("y", 3, 2, -1)
	require.NoError(t, err)
	return m, m.SRAM(), x, y
}

func contents(t *testing.T, m *Machine, x *Matrix) []float32 {
	t.Helper()
	data, err := m.Contents(x)
	require.NoError(t, err)
	return data
}

func TestTilesMoveAndAreCounted(t *testing.T) {
	m, s, x, y := machine(t)
	a := s.Tile("a", 2, 2)
	a.Load(x, 0)
	a.Store(y, 0)
	last := a.Part(1, 2)
	last.Load(x, 2)
	last.Store(y, 2)
	require.NoError(t, s.Err())
	assert.Equal(t, []float32{1, 2, 3, 4, 5, 6}, contents(t, m, y))
	assert.Equal(t, Traffic{24, 24}, m.Traffic())
	assert.EqualValues(t, 48, m.Traffic().Total())
	assert.Equal(t, 16, m.Used(), "a part takes no room")
	assert.Equal(t, []int{3, 2, 1, 2}, []int{x.Rows(), x.Cols(), last.Rows(), last.Cols()})
}

func TestArithmetic(t *testing.T) {
	m, s, x, y := machine(t)
	inf := float32(math.Inf(1))
	a, b, col, square := s.Tile("a", 3, 2), s.Tile("b", 3, 2), s.Tile("col", 3, 1), s.Tile("square", 3, 3)
	a.Load(x, 0)
	see := func(tile *Tile, want ...float32) {
		t.Helper()
		require.NoError(t, s.Err())
		var got []float32
		for i := range tile.in.rows {
			got = append(got, tile.in.row(i)...)
		}
		assert.Equal(t, want, got)
	}
	b.Copy(a)
	b.Add(a)
	see(b, 2, 4, 6, 8, 10, 12)
	b.Div(a)
	see(b, 2, 2, 2, 2, 2, 2)
	col.Fill(3)
	col.MaxRows(a)
	see(col, 3, 4, 6)
	b.Mul(col)
	b.Sub(a)
	see(b, 5, 4, 5, 4, 7, 6)
	col.SumRows(a)
	see(col, 6, 11, 17)
	square.MulT(a, a)
	see(square, 5, 11, 17, 11, 25, 39, 17, 39, 61)
	square.Mask(1)
	see(square, 5, 11, -inf, 11, 25, 39, 17, 39, 61)
	square.Mask(-1)
	see(square, -inf, -inf, -inf, 11, -inf, -inf, 17, 39, -inf)
	square.Exp()
	assert.Zero(t, square.in.row(0)[0])
	square.Fill(1)
	square.Scale(0.5)
	b.Fill(10)
	b.AddMul(square, a)
	see(b, 14.5, 16, 14.5, 16, 14.5, 16)
	b.Store(y, 0)
	assert.Equal(t, []float32{14.5, 16, 14.5, 16, 14.5, 16}, contents(t, m, y))
	part := square.Part(2, 2)
	part.MulT(a.Part(2, 2), a.Part(2, 2))
	see(part, 5, 11, 11, 25)
	see(square, 5, 11, 0.5, 11, 25, 0.5, 0.5, 0.5, 0.5)
}

func TestErrorsStick(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s *SRAM, x, y *Matrix)
		want string
	}{
		"too large":    {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 5, 5); s.Tile("b", 10, 10) }, "tile b [10, 10] of 400 bytes does not fit into the SRAM of 400 bytes: 100 bytes are taken by a [5, 5]"},
		"overflow":     {func(s *SRAM, _, _ *Matrix) { s.Tile("a", math.MaxInt, math.MaxInt) }, "does not fit into the SRAM of 400 bytes: nothing is in it yet"},
		"no rows":      {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 0, 2) }, "at least 1 row"},
		"beyond":       {func(s *SRAM, x, _ *Matrix) { s.Tile("a", 2, 2).Load(x, 2) }, "Load of tile a [2, 2] from x [3, 2]: its rows 2 to 3 are not all there"},
		"before":       {func(s *SRAM, _, y *Matrix) { s.Tile("a", 2, 2).Store(y, -1) }, "Store of tile a [2, 2] to y [3, 2]: its rows -1 to 0"},
		"columns":      {func(s *SRAM, x, _ *Matrix) { s.Tile("a", 2, 3).Load(x, 0) }, "want as many columns"},
		"input":        {func(s *SRAM, x, _ *Matrix) { s.Tile("a", 3, 2).Store(x, 0) }, "x [3, 2] is an input, and can only be read"},
		"part":         {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 2, 2).Part(3, 1) }, "Part(3, 1) of tile a [2, 2]: want 1 to 2 rows"},
		"shapes":       {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 2, 2).Add(s.Tile("b", 2, 3)) }, "Add of tiles a [2, 2] and b [2, 3]: want the same shape"},
		"product":      {func(s *SRAM, _, _ *Matrix) { a := s.Tile("a", 2, 2); a.MulT(a, a) }, "a result apart from both"},
		"column":       {func(s *SRAM, _, _ *Matrix) { a := s.Tile("a", 2, 2); a.MaxRows(a) }, "want a column"},
		"nil":          {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 2, 2).Copy(nil) }, "no tile of this SRAM"},
		"no matrix":    {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 2, 2).Load(nil, 0) }, "not of this machine"},
		"other tile":   {func(s *SRAM, _, _ *Matrix) { s.Tile("a", 2, 2).Copy(New(100).SRAM().Tile("b", 2, 2)) }, "no tile of this SRAM"},
		"other matrix": {func(s *SRAM, _, _ *Matrix) { o, _ := New(1).Output("o", 2, 2, 0); s.Tile("a", 2, 2).Load(o, 0) }, "not of this machine"},
	} {
		m, s, x, y := machine(t)
		c.do(s, x, y)
		assert.ErrorContains(t, s.Err(), c.want, name)
		first := s.Err()
		used, before := m.Used(), m.Traffic()
		s.Tile("later", 1, 2).Load(x, 0)
		assert.Equal(t, first, s.Err(), name)
		assert.Equal(t, before, m.Traffic(), "%s: nothing happens after an error", name)
		assert.Equal(t, used, m.Used(), name)
	}
}

// TestNumbersStayInside: what fmt shows of the handles, even as another type,
// holds no element.
func TestNumbersStayInside(t *testing.T) {
	m := New(100)
	x, err := m.Input("x", 1, 1, []float32{12345})
	require.NoError(t, err)
	a := m.SRAM().Tile("a", 1, 1)
	a.Load(x, 0)
	type bareTile Tile
	type bareMatrix Matrix
	for _, v := range []any{a, *a, bareTile(*a), x, *x, bareMatrix(*x), m.SRAM(), *m.SRAM()} {
		for _, verb := range []string{"%v", "%+v", "%#v"} {
			assert.NotContains(t, fmt.Sprintf(verb, v), "12345", "%T", v)
		}
	}
	_, err = New(1).Contents(x)
	assert.Error(t, err, "another machine gives nothing out")
}

func TestZeroValuesAreHarmless(t *testing.T) {
	var s SRAM
	assert.Error(t, s.Err())
	assert.Zero(t, s.Capacity())
	s.Tile("a", 1, 1).Fill(1)
	var tile Tile
	tile.Fill(1)
	tile.Copy(&tile)
	_, err := New(1).Contents(&Matrix{})
	assert.Error(t, err)
}

func TestCountsAreExactAcrossGoroutines(t *testing.T) {
	m, s, x, _ := machine(t)
	var all sync.WaitGroup
	for range 8 {
		a := s.Tile("a", 1, 2)
		all.Go(func() {
			for range 100 {
				a.Load(x, 0)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 8*100*8, m.Traffic().Read)
}

// TestALogOnZerosIsTheSameOnNumbers: an algorithm that ran on zeros is done again on
// numbers, and gives their result and counts.
func TestALogOnZerosIsTheSameOnNumbers(t *testing.T) {
	run := func(m *Machine, data []float32) *Matrix {
		x, err := m.Input("x", 3, 2, data)
		require.NoError(t, err)
		y, err := m.Output("y", 3, 2, -1)
		require.NoError(t, err)
		_ = x
		return y
	}
	ask := func(s *SRAM, x, y *Matrix) {
		a, col, square, b := s.Tile("a", 3, 2), s.Tile("col", 3, 1), s.Tile("square", 3, 3), s.Tile("b", 3, 2)
		a.Load(x, 0)
		col.Fill(1)
		col.MaxRows(a)
		col.SumRows(a)
		a.Sub(col)
		a.Scale(0.5)
		a.Exp()
		square.MulT(a, a)
		square.Mask(0)
		square.Exp()
		b.Copy(a)
		b.Mul(a)
		b.Div(col)
		b.Add(a)
		b.AddMul(square, a)
		b.Part(2, 2).Store(y, 1)
		b.Part(1, 2).Store(y, 0)
	}
	empty := New(400)
	empty.StartLog()
	y := run(empty, make([]float32, 6))
	ask(empty.SRAM(), empty.matrices[0], y)
	require.NoError(t, empty.SRAM().Err())

	numbers := []float32{1, 2, 3, 4, 5, 6}
	direct := New(400)
	want := run(direct, numbers)
	ask(direct.SRAM(), direct.matrices[0], want)
	again := New(400)
	got := run(again, numbers)
	require.NoError(t, again.Replay(empty.Log()))
	assert.Equal(t, contents(t, direct, want), contents(t, again, got))
	assert.Equal(t, direct.Traffic(), again.Traffic())
	assert.NotEqual(t, contents(t, empty, y), contents(t, again, got))
}

func TestALogIsNotTrusted(t *testing.T) {
	m := New(400)
	m.StartLog()
	m.SRAM().Tile("a", 2, 2).Fill(1)
	good := m.Log()
	require.NoError(t, New(400).Replay(good))
	assert.Error(t, New(10).Replay(good), "the room is the grader's to give")
	assert.Error(t, New(400).Replay(good[1:]))
	for at := range good {
		bad := append([]byte{}, good...)
		bad[at] ^= 0xff
		_ = New(400).Replay(bad) // whatever it is, it does not panic
	}
	for _, bad := range [][]byte{append([]byte{200}, make([]byte, callBytes-1)...), append([]byte{2}, make([]byte, callBytes-1)...)} {
		assert.Error(t, New(400).Replay(bad))
	}
}
