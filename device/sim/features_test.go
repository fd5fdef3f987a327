package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func testVariables(b bench) {
	y := alloc[float32](b, "y", 65)
	b.launch("variables", 64, y)
	got := download(b, y)
	weights, second := [2][2]float32{{1, 2}, {3, 4}}, [2]float32{2.5, 4.5}
	for t := range 64 {
		want := float32(t%4+1)*weights[t/2%2][t%2] + float32(7+t%3) + second[t%2] + 3
		require.Equal(b.t, want, got[t], "y[%d]", t)
	}
	assert.Equal(b.t, float32(69), got[64])
}

func testTemplates(b bench) {
	y := alloc[float32](b, "y", 64)
	b.launch("templates", 64, upload(b, "x", counting(64)), y)
	for t, v := range download(b, y) {
		turned := float32(64 - t)
		require.Equal(b.t, turned+2*turned+float32(t+1)+0.5, v, "y[%d]", t)
	}
}

func testPlaced(b bench) {
	y := alloc[float32](b, "y", 66)
	b.launchShape("placed", device.Launch{Grid: device.D1(1), Block: device.D1(64), Shared: 256}, upload(b, "x", counting(64)), y)
	got := download(b, y)
	for t := range 64 {
		require.Equal(b.t, float32(3*(64-t)+3*(4*(t%16)+4)), got[t], "y[%d]", t)
	}
	assert.Equal(b.t, []float32{1, 12}, got[64:])
}

func testAtomics(b bench) {
	const n = 64
	i := upload(b, "i", []int32{0, 0, 0, 0, -1, 0, 0, 0, 0, 0})
	u := upload(b, "u", []uint32{0, 0, 0, 0, 0xffff})
	w, f := upload(b, "w", []uint64{0, 0, 0}), upload(b, "f", []float32{0, 0})
	d, l := upload(b, "d", []float64{0}), upload(b, "l", []int64{0})
	b.launch("atomics", n, i, u, w, f, d, l)
	assert.Equal(b.t, []int32{n * (n - 1) / 2, -2 * n, 63, -63, -1 << 20, 1<<20 - 1, 0, 5, 64, n}, download(b, i))
	assert.Equal(b.t, []uint32{n % 10, (7 - n%7) % 7, 0x8000003f, n, n<<16 | 0xffff}, download(b, u))
	assert.Equal(b.t, []uint64{n << 33, 63 << 40, n * (n - 1) / 2}, download(b, w))
	assert.Equal(b.t, []float32{n / 2, 3}, download(b, f))
	assert.Equal(b.t, []float64{n / 4}, download(b, d))
	assert.Equal(b.t, []int64{-63 << 40}, download(b, l))
}

// Each vector moves as one access.
func testMoves(b bench) {
	require.NoError(b.t, b.d.Reset())
	x, d := counting(4*64), make([]float64, 2*64)
	c, s := make([]uint8, 4*64), make([]uint16, 2*64)
	for i := range x {
		c[i] = uint8(i)
		d[i/2], s[i/2] = float64(i)/3, uint16(i*255)
	}
	y, e := alloc[float32](b, "y", 4*64), alloc[uint8](b, "e", 4*64)
	q, r := alloc[uint16](b, "q", 2*64), alloc[float64](b, "r", 2*64)
	report := b.launch("moves", 64, upload(b, "x", x), y, upload(b, "c", c), e, upload(b, "s", s), q, upload(b, "d", d), r)
	assert.Equal(b.t, x, download(b, y))
	assert.Equal(b.t, c, download(b, e))
	assert.Equal(b.t, s, download(b, q))
	assert.Equal(b.t, d, download(b, r))
	counts := report.Launches[0]
	assert.Equal(b.t, uint64(64*(16+4+4+16)), counts.GlobalRead)
	assert.Equal(b.t, uint64(2*8), counts.GlobalRequests, "four loads and four stores of two warps")
}

func testSmallTypes(b bench) {
	bytes, words := alloc[uint8](b, "a", 64), alloc[uint8](b, "b", 64)
	shorts, longs := alloc[uint16](b, "c", 64), alloc[int64](b, "d", 64)
	b.launch("small_types", 64, bytes, words, shorts, longs)
	ga, gb, gc, gd := download(b, bytes), download(b, words), download(b, shorts), download(b, longs)
	for t := range 64 {
		assert.Equal(b.t, []int{t + 1, t, 2 * t}, []int{int(ga[t]), int(gb[t]), int(gc[t])})
		assert.Equal(b.t, int64(t)<<40, gd[t])
	}
}

func testTalks(b bench) {
	y := upload(b, "y", make([]float32, 64))
	b.launch("talks", 64, y, 1)
	prints, _, err := b.d.Prints()
	require.NoError(b.t, err)
	require.Len(b.t, prints, 1)
	assert.Equal(b.t, "thread 3 of 64: 12.5%\n", prints[0].Text)
	assert.Equal(b.t, float32(7), download(b, y)[5])
	assert.False(b.t, math.IsNaN(float64(download(b, y)[0])))
	r, err := b.try("talks", device.Launch{Grid: device.D1(1), Block: device.D1(64)}, y, 0)
	assert.ErrorIs(b.t, err, device.ErrFault)
	require.NotEmpty(b.t, r.Findings)
	assert.Contains(b.t, r.Findings[0].Headline(), "assertion failed: n > 0")
}

func TestLanguage(t *testing.T) {
	withModule(t, "features.cu", func(b bench) {
		testVariables(b)
		testTemplates(b)
		testPlaced(b)
		testAtomics(b)
		testMoves(b)
		testSmallTypes(b)
		testTalks(b)
	})
}
