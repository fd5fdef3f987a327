package w4a16

// The public checks: `go test ./bonus/b8_w4a16`. They are few and small; `make grade
// TASK=b8` has more and larger ones, and counts what is moved.

import (
	"errors"
	"math"
	"strings"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

func up[T device.Scalar](t *testing.T, d device.Device, name string, x []T) device.Buffer[T] {
	t.Helper()
	b, err := device.Upload(d, name, x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func blank[T device.Scalar](t *testing.T, d device.Device, name string, n int) device.Buffer[T] {
	t.Helper()
	b := up(t, d, name, make([]T, n))
	if err := d.Poison(b.Memory()); err != nil {
		t.Fatal(err)
	}
	return b
}

// done waits for what was launched, and looks at what must not have happened.
func done(t *testing.T, d device.Device, method string, err error) {
	t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatalf("not implemented: %s in w4a16.go is still the stub (README.md says where to start)", method)
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "%s: %v", method, err)
	}
	attntest.Findings(t, d)
}

func out[T device.Scalar](t *testing.T, d device.Device, b device.Buffer[T]) []T {
	t.Helper()
	x, err := b.CopyOut(d)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func made(t *testing.T) (device.Device, *W4A16) {
	t.Helper()
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	return d, it
}

// counted are weights whose codes, scales and zeros count in steps of their own.
type counted struct{ k, n int }

func (c counted) code(o, i int) int      { return (3*o + i + i/16) % 16 }
func (c counted) scale(o, g int) float32 { return float32(1+(o+2*g)%5) / 64 }
func (c counted) zero(o, g int) int      { return (5*o + 3*g + 6) % 16 }

// zeroByte has a zero in its low half, and something else in the other.
func (c counted) zeroByte(o, g int) uint8 { return uint8(c.zero(o, g) | (o+g)%16<<4) }
func (c counted) groups() int             { return c.k / Group }

func (c counted) weight(o, i int) float64 {
	return float64(c.code(o, i)-c.zero(o, i/Group)) * float64(c.scale(o, i/Group))
}

// device uploads them as they are.
func (c counted) device(t *testing.T, d device.Device) Weights {
	codes, scales, zeros := make([]uint8, c.n*c.k/2), make([]device.Float16, c.n*c.groups()), make([]uint8, c.n*c.groups())
	for o := range c.n {
		for i := range c.k {
			codes[(o*c.k+i)/2] |= uint8(c.code(o, i) << (i % 2 * 4))
		}
		for g := range c.groups() {
			scales[o*c.groups()+g], zeros[o*c.groups()+g] = device.ToFloat16(c.scale(o, g)), c.zeroByte(o, g)
		}
	}
	return Weights{up(t, d, "codes", codes), up(t, d, "scales", scales), up(t, d, "zeros", zeros)}
}

// laid is room for them in the order of fragments.
func (c counted) laid(t *testing.T, d device.Device) Laid {
	n := Shape{1, c.k, c.n}.Tiles() * Tall
	return Laid{blank[uint8](t, d, "laid codes", n*c.k/2), blank[device.Float16](t, d, "laid scales", n*c.groups()), blank[uint8](t, d, "laid zeros", n*c.groups())}
}

func TestLay(t *testing.T) {
	d, it := made(t)
	for _, c := range []counted{{128, 16}, {256, 32}, {128, 1}, {384, 21}} {
		laid := c.laid(t, d)
		done(t, d, "Lay", it.Lay(laid, c.device(t, d), Shape{1, c.k, c.n}))
		codes, scales, zeros := out(t, d, laid.Codes), out(t, d, laid.Scales), out(t, d, laid.Zeros)
		for b, got := range codes {
			// Byte b is the piece's lane, word and byte; its halves are of outputs g and g + 8.
			place, lane, word, byte := b/512, b/16%32, b/4%4, b%4
			tile, piece := place/(c.k/64), place%(c.k/64)
			i := piece*64 + word/2*32 + lane%4*8 + word%2*4 + byte%2*2 + byte/2
			for half := range 2 {
				o, want := tile*16+lane/4+8*half, 0
				if o < c.n {
					want = c.code(o, i)
				}
				if g := int(got>>(4*half)) & 15; g != want {
					t.Fatalf("K %d, N %d: tile %d, piece %d, lane %d, word %d, bits %d to %d: code %d, want %d, which is number %d of output %d (of %d)",
						c.k, c.n, tile, piece, lane, word, 8*byte+4*half, 8*byte+4*half+3, g, want, i, o, c.n)
				}
			}
		}
		for at := range scales {
			tile, g := at/16/c.groups(), at/16%c.groups()
			o := tile*16 + at%16/2 + at%2*8
			scale, zero := float32(0), 0
			if o < c.n {
				scale, zero = c.scale(o, g), int(c.zeroByte(o, g))
			}
			if scales[at].Float32() != scale || int(zeros[at]) != zero {
				t.Fatalf("K %d, N %d: laid scale and zero %d, of output %d (of %d) and group %d, are %v and %d, want %v and %d",
					c.k, c.n, at, o, c.n, g, scales[at].Float32(), zeros[at], scale, zero)
			}
		}
	}
}

// laidByHand writes what Lay should have written, so that Rows can be tried without it.
func (c counted) laidByHand(t *testing.T, d device.Device) Laid {
	n := Shape{1, c.k, c.n}.Tiles() * Tall
	codes, scales, zeros := make([]uint8, n*c.k/2), make([]device.Float16, n*c.groups()), make([]uint8, n*c.groups())
	for o := range c.n {
		tile, g, half := o/16, o%8, o/8%2
		for i := range c.k {
			lane, word, byte := g*4+i%32/8, i/32%2*2+i/4%2, i%2*2+i/2%2
			codes[(tile*(c.k/64)+i/64)*512+lane*16+word*4+byte] |= uint8(c.code(o, i) << (4 * half))
		}
		for group := range c.groups() {
			at := (tile*c.groups()+group)*16 + 2*g + half
			scales[at], zeros[at] = device.ToFloat16(c.scale(o, group)), c.zeroByte(o, group)
		}
	}
	return Laid{up(t, d, "laid codes", codes), up(t, d, "laid scales", scales), up(t, d, "laid zeros", zeros)}
}

// cases are products of a few shapes, each with what to look at where it is wrong.
var cases = []struct {
	name, hint string
	Shape
}{
	{"one_group", "a weight is (code − zero) · scale; of a zero's byte the low half counts", Shape{1, 128, 16}},
	{"groups", "number i has the scale and the zero of its output's group i / 128", Shape{1, 384, 16}},
	{"odd_outputs", "are outputs behind the last one left alone?", Shape{1, 256, 21}},
	{"long", "does every warp that shares k add what it has?", Shape{1, 2176, 3}},
	{"two_rows", "row r of y belongs to row r of x", Shape{2, 128, 16}},
	{"rows_11", "are rows behind the last one left alone?", Shape{11, 256, 37}},
	{"rows_64", "are rows behind the last one left alone?", Shape{64, 256, 16}},
}

func TestMultiply(t *testing.T) {
	d, it := made(t)
	for _, c := range cases {
		if c.Rows == 1 {
			t.Run(c.name+"/Row", func(t *testing.T) { multiply(t, d, it, c.Shape, "Row", c.hint) })
		}
		t.Run(c.name+"/Rows", func(t *testing.T) { multiply(t, d, it, c.Shape, "Rows", c.hint) })
	}
}

func multiply(t *testing.T, d device.Device, it *W4A16, s Shape, way, hint string) {
	t.Helper()
	w, x := counted{s.K, s.N}, make([]device.Float16, s.Rows*s.K)
	for i := range x {
		x[i] = device.ToFloat16(float32(i*7%11-5) / 8)
	}
	onX, y := up(t, d, "x", x), blank[device.Float16](t, d, "y", s.Rows*s.N)
	if way == "Row" {
		done(t, d, way, it.Row(y, onX, w.device(t, d), s))
	} else {
		done(t, d, way, it.Rows(y, onX, w.laidByHand(t, d), s))
	}
	for at, g := range out(t, d, y) {
		row, o, want, size := at/s.N, at%s.N, 0.0, 0.0
		for i := range s.K {
			term := float64(x[row*s.K+i].Float32()) * w.weight(o, i)
			want, size = want+term, size+term*term
		}
		if !(math.Abs(float64(g.Float32())-want) <= 0x1p-10*(math.Abs(want)+2*math.Sqrt(size))) { // true for NaN
			t.Fatalf("%s, %+v: y[%d][%d] is %v, want %.4f\n  hint: %s", way, s, row, o, g.Float32(), want, hint)
		}
	}
}

// TestNaN: what is no number reaches its own row of y, or its own output, and nothing else.
func TestNaN(t *testing.T) {
	d, it := made(t)
	nan(t, d, it, 3)
}

func nan(t *testing.T, d device.Device, it *W4A16, rows int) {
	t.Helper()
	w, s := counted{256, 32}, Shape{rows, 256, 32}
	x := make([]device.Float16, rows*256)
	x[256+77] = device.ToFloat16(float32(math.NaN()))
	laid := w.laidByHand(t, d)
	scales := out(t, d, laid.Scales)
	scales[2*16+2*5+1] = device.ToFloat16(float32(math.NaN())) // tile 1, group 0, output 16 + 5 + 8
	laid.Scales = up(t, d, "laid scales", scales)
	y := blank[device.Float16](t, d, "y", rows*32)
	done(t, d, "Rows", it.Rows(y, up(t, d, "x", x), laid, s))
	for at, g := range out(t, d, y) {
		f := g.Float32()
		if nan := f != f; nan != (at/32 == 1 || at%32 == 29) {
			t.Errorf("y[%d][%d] is %v: row 1 of x has a NaN, and so has a scale of output 29; no other number may be one", at/32, at%32, f)
		}
	}
}

func TestRefuses(t *testing.T) {
	d, it := made(t)
	h, b := up(t, d, "halves", make([]device.Float16, 64)), up(t, d, "bytes", make([]uint8, 64))
	w := Weights{b, h, b}
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"K 192":         {it.Row(h, h, w, Shape{1, 192, 16}), "multiple of 128"},
		"laying K 64":   {it.Lay(Laid(w), w, Shape{1, 64, 16}), "multiple of 128"},
		"two rows":      {it.Row(h, h, w, Shape{2, 128, 16}), "want 1 to 1"},
		"65 rows":       {it.Rows(h, h, Laid(w), Shape{65, 128, 16}), "want 1 to 64"},
		"short x":       {it.Rows(h, h, Laid(w), Shape{1, 128, 64}), "x holds 64 numbers"},
		"short weights": {it.Lay(Laid(w), w, Shape{1, 128, 16}), "64 bytes of codes"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: got %v, want the error of Check, with %q", name, c.err, c.says)
		}
	}
}
