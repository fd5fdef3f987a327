package device_test

import (
	"fmt"

	"flashlab/device"
	"flashlab/device/open"
)

const doubling = `
extern "C" __global__ void twice(float *x, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) x[i] *= 2;
}
`

// A kernel is compiled once, and launched on buffers that the caller allocated. "auto" takes a GPU where there is one.
func Example() {
	d, err := open.Device("sim")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	q := device.QueueOf(d)
	module, err := q.Compile(device.Source{Name: "twice.cu", Text: doubling, Defines: map[string]string{"BLOCK": "32"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	twice, err := module.Kernel("twice")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := device.Upload(q, "x", []float32{1, 2, 3, 4, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := q.Launch(twice, device.Launch{Grid: device.D1(1), Block: device.D1(32)}, x, x.Len()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.CopyOut(q))
	// Output: [2 4 6 8 10] <nil>
}

// ScanKernels reads the kernels of a .cu file, against whose parameters arguments are checked at a launch.
func ExampleScanKernels() {
	for _, s := range device.ScanKernels(doubling) {
		fmt.Println(s.Name, "line", s.Line)
		for _, p := range s.Params {
			fmt.Println(p.Name, p.Type)
		}
	}
	// Output:
	// twice line 2
	// x float *
	// n int
}
