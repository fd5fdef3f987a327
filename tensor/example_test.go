package tensor_test

import (
	"fmt"

	"flashlab/tensor"
)

// Any part of a filled tensor can be made again by itself: here numbers 4 and 5 of 8.
func ExampleFill() {
	all := make([]float32, 8)
	if err := tensor.Fill(all, tensor.Uniform, 7, 0, 0); err != nil {
		fmt.Println(err)
		return
	}
	part := make([]float32, 2)
	if err := tensor.Fill(part, tensor.Uniform, 7, 0, 4); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(part[0] == all[4], part[1] == all[5])
	// Output: true true
}

// Compare measures errors against float64 and says where the largest is.
func ExampleCompare() {
	got := []float32{1, 2, 3.5, 4}
	want := []float64{1, 2, 3, 4}
	diff := tensor.Compare(got, want)
	fmt.Printf("RMS error %g; worst at %d: got %g, want %g\n", diff.RMS, diff.Worst, diff.Got, diff.Want)
	// Output: RMS error 0.25; worst at 2: got 3.5, want 3
}

// A tensor is its numbers, row by row, and a shape.
func ExampleOf() {
	q, err := tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.ShapeString(q.Shape), tensor.Index(q.Shape, 5))
	_, err = tensor.Of([]float32{1, 2, 3}, 2, 2)
	fmt.Println(err)
	// Output:
	// [2, 3] [1 2]
	// tensor: 3 elements do not fill [2, 2]
}
