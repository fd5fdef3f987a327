package warmup

// The public checks: `go test ./task0_warmup`, with numbers that one can follow by hand. `make grade
// TASK=0` has other shapes, and counts what is moved.

import (
	"errors"
	"slices"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// counting is from, from + 1, from + 2 …
func counting(from, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(from + i)
	}
	return x
}

func TestPuzzles(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("kernels.cu does not compile:\n%v", err)
	}
	x := counting(0, 256)
	table := make([]float32, 32*32) // row r, column c holds r
	for i := range table {
		table[i] = float32(i / 32)
	}
	sums := make([]float32, 32)
	for i := range sums {
		sums[i] = float32(32 * i)
	}
	type buffer = device.Buffer[float32]
	type rowwise func(y, x buffer, rows int) error
	of := func(rows int, solve rowwise) func(y, x buffer) error {
		return func(y, x buffer) error { return solve(y, x, rows) }
	}
	threads := append([]float32{0 + 256, 1 + 257, 2 + 258, 3 + 259}, counting(4, 252)...) // of a row 0 … 259
	for _, c := range []struct {
		name    string
		solve   func(y, x buffer) error
		x, want []float32
	}{
		{"1 map", it.Map, []float32{5, 1, 7, 2}, []float32{15, 11, 17, 12}},
		{"2 guard", it.Guard, counting(0, 300), counting(10, 300)},
		{"3 two dimensions", func(y, x buffer) error {
			return it.Grid(y, x, attntest.Input(t, d, "bias", []float32{10, 20, 30}), 2, 3)
		}, []float32{1, 2, 3, 4, 5, 6}, []float32{11, 22, 33, 14, 25, 36}},
		{"4 shift", it.Shift, x, append(counting(1, 255), 0)},
		{"5 sum", it.Sum, x, []float32{255 * 256 / 2}},
		{"6 transpose", func(y, x buffer) error { return it.Transpose(y, x, 2, 3) }, []float32{1, 2, 3, 4, 5, 6}, []float32{1, 4, 2, 5, 3, 6}},
		{"7 pad", it.Pad, table, sums},
		{"8 race", it.Race, x, append(counting(4, 252), 255, 255, 255, 255)},
		{"9 walk", of(1, it.Walk), counting(0, 260), counting(0, 260)},
		{"10 parts", of(1, it.Parts), counting(0, 260), threads},
		{"11 total", of(2, it.Total), []float32{1, 2, 3, 10, 20, 30}, []float32{6, 60}},
		{"12 centre", of(2, it.Centre), []float32{1, 2, 3, 10, 20, 30}, []float32{-1, 0, 1, -10, 0, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out := attntest.Input(t, d, "x", c.x), attntest.Output(t, d, "y", len(c.want))
			err := c.solve(out, in)
			if errors.Is(err, attn.ErrNotImplemented) {
				t.Fatalf("%v (README.md says where to start)", err)
			}
			if err == nil {
				err = d.Sync()
			}
			if err != nil {
				attntest.Fatal(t, d, "the launch failed: %v", err)
			}
			got, err := out.CopyOut(d)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				first := 0
				for got[first] == c.want[first] {
					first++
				}
				t.Errorf("y[%d] = %v, want %v%s", first, got[first], c.want[first], attntest.Unwritten(got))
			}
			attntest.Findings(t, d)
		})
	}
}
