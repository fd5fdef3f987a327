package fourbit

// The optional check: `go test ./bonus/b5_fourbit -run TestNVFP4`. `make grade TASK=b5` has more cases of it.

import (
	"errors"
	"math"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

func madeTwoLevel(t *testing.T) (device.Device, *TwoLevel) {
	t.Helper()
	d := attntest.Device(t)
	it, err := NewTwoLevel(device.QueueOf(d))
	if err != nil {
		t.Fatalf("NewTwoLevel failed:\n%v", err)
	}
	return d, it
}

// written skips what is still the stub.
func written(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Skip("optional: the methods of TwoLevel in nvfp4.go are still the stub (README.md, 'Optional: NVFP4')")
	}
}

// numberE4M3 is the number of a scale.
func numberE4M3(code uint8) float64 {
	switch exponent, fraction := int(code>>3&15), float64(code&7)/8; {
	case code == 127:
		return math.NaN()
	case exponent == 0:
		return math.Ldexp(fraction, 1-7)
	default:
		return math.Ldexp(1+fraction, exponent-7)
	}
}

func TestNVFP4(t *testing.T) {
	d, it := madeTwoLevel(t)
	const all = float32(0.0007)
	for _, c := range []struct {
		rows, row int
		scales    []uint8 // in turn
		hint      string
	}{
		{1, 16, []uint8{56}, "the scale 56 is 1: the exponent 7, less 7, and no fraction"},
		{1, 64, []uint8{56, 61, 44}, "number i of a row is of its block i / 16; a scale is four bits of exponent and three of fraction"},
		{3, 17, []uint8{56, 57, 58}, "each row begins a block of its own, so these have two, the second of one number"},
		{5, 7, []uint8{56, 57, 58}, "codes go on without a gap from row to row: the second row begins in the high half of a byte"},
		{1, 96, []uint8{0, 1, 7, 8, 126, 127}, "0 to 7 are that many times 2^−9; 126 is 448; 127 is NaN, and there is no infinity"},
		{1, 2048, []uint8{57, 58, 59, 60, 61, 62, 63}, "number times block's scale comes first: it is exact. The two scales multiplied by each other are not"},
	} {
		n, blocks := c.rows*c.row, (c.row+15)/16
		codes, scales := counted(n, c.row), make([]uint8, c.rows*blocks)
		for i := range scales {
			scales[i] = c.scales[i%len(c.scales)]
		}
		o := blank[float32](t, d, "out", n)
		err := it.DequantiseNVFP4(o, NVFP4{up(t, d, "codes", packed(codes, false)), up(t, d, "scales", scales), up(t, d, "tensor", []float32{all})}, c.row)
		written(t, err)
		done(t, d, "DequantiseNVFP4", err)
		for i, g := range out(t, d, o) {
			scale := scales[i/c.row*blocks+i%c.row/16]
			if w := float32(numberE2M1(codes[i]) * numberE4M3(scale) * float64(all)); g != w && !(g != g && w != w) {
				t.Fatalf("%d rows of %d: number %d, with code %d in a block with the scale %d, is %v, want %v\n  hint: %s", c.rows, c.row, i, codes[i], scale, g, w, c.hint)
			}
		}
	}
}

// TestNVFP4Project multiplies ones by weights that are all alike in a row: row n has the code n % 8 + 1.
func TestNVFP4Project(t *testing.T) {
	d, it := madeTwoLevel(t)
	p := Projection{2, 3, 256, 2, 1, 8}
	n, rows := p.Outputs(), p.Rows()
	codes, scales := make([]int, n*p.Hidden), make([]uint8, n*p.Hidden/16)
	for i := range codes {
		codes[i] = i/p.Hidden%8 + 1
	}
	for i := range scales {
		scales[i] = uint8(48 + i%16)
	}
	x, bias := make([]device.Float16, rows*p.Hidden), make([]device.Float16, n)
	for i := range x {
		x[i] = device.ToFloat16(float32(i/p.Hidden + 1))
	}
	for i := range bias {
		bias[i] = device.ToFloat16(float32(i % 5))
	}
	var o [3]Halves
	heads := []int{p.Heads, p.KVHeads, p.KVHeads}
	for i := range o {
		o[i] = blank[device.Float16](t, d, "out", rows*heads[i]*p.Dim)
	}
	const all = 1. / 64
	w := NVFP4{up(t, d, "codes", packed(codes, false)), up(t, d, "scales", scales), up(t, d, "tensor", []float32{all})}
	err := it.ProjectNVFP4(o[0], o[1], o[2], up(t, d, "x", x), w, up(t, d, "bias", bias), p)
	written(t, err)
	done(t, d, "ProjectNVFP4", err)
	first := 0
	for i := range o {
		for at, g := range out(t, d, o[i]) {
			batch, head, token := at/p.Dim/p.Seq/heads[i], at/p.Dim/p.Seq%heads[i], at/p.Dim%p.Seq
			row, output := batch*p.Seq+token, first+head*p.Dim+at%p.Dim
			want := float64(output % 5)
			for block := range p.Hidden / 16 {
				want += 16 * float64(row+1) * numberE2M1(output%8+1) * numberE4M3(scales[output*p.Hidden/16+block]) * all
			}
			if math.Abs(float64(g.Float32())-want) > 0x1p-10*math.Abs(want) {
				t.Fatalf("%c[%d][%d][%d][%d], which is output %d of row %d, is %v, want %.4f\n  hint: the tensor's scale multiplies the finished sum; the bias comes after it", "qkv"[i], batch, head, token, at%p.Dim, output, row, g.Float32(), want)
			}
		}
		first += heads[i] * p.Dim
	}
}
