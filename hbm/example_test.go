package hbm_test

import (
	"fmt"

	"flashlab/hbm"
)

// A matrix passes through the SRAM two rows at a time. The machine counts what crosses.
func Example() {
	machine := hbm.New(64) // bytes of SRAM
	x, _ := machine.Input("x", 4, 2, []float32{0, 1, 2, 3, 4, 5, 6, 7})
	y, _ := machine.Output("y", 4, 2, 0)

	sram := machine.SRAM()
	rows := sram.Tile("rows", 2, x.Cols())
	for row := 0; row < x.Rows(); row += rows.Rows() {
		rows.Load(x, row)
		rows.Scale(0.5)
		rows.Store(y, row)
	}
	if err := sram.Err(); err != nil {
		fmt.Println(err)
		return
	}
	halves, _ := machine.Contents(y)
	fmt.Println(halves)
	fmt.Printf("%d bytes read, %d written, %d of SRAM used\n", machine.Traffic().Read, machine.Traffic().Written, machine.Used())
	// Output:
	// [0 0.5 1 1.5 2 2.5 3 3.5]
	// 32 bytes read, 32 written, 16 of SRAM used
}

// Errors stick: after the first, nothing happens. One look at the end is enough.
func ExampleSRAM_Err() {
	machine := hbm.New(64)
	sram := machine.SRAM()
	small := sram.Tile("small", 2, 2)
	large := sram.Tile("large", 8, 8) // does not fit
	large.Fill(1)
	small.Fill(1)
	fmt.Println(sram.Err())
	// Output: tile large [8, 8] of 256 bytes does not fit into the SRAM of 64 bytes: 16 bytes are taken by small [2, 2]
}
