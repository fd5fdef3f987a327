// Package demo uses its own small kernels to show how a bug is reported, for a tree that has no
// solutions to break, and whether the simulator works at all.
package demo

import (
	_ "embed"
	"fmt"
	"io"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/device/trace"
)

//go:embed neighbours.cu
var neighbours string

const elements = 100

// Race runs the kernel in the simulator, without its barrier and with it, and
// writes what the simulator says.
func Race(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", neighbours)
	for _, barrier := range []bool{false, true} {
		right, findings, err := run(barrier)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "Compiled with WITH_BARRIER = %v: %d of %d results are right, and the simulator says:\n\n", barrier, right, elements)
		if len(findings) == 0 {
			fmt.Fprintf(w, "    no findings\n\n")
		}
		for _, f := range findings {
			fmt.Fprintf(w, "%s\n\n", f)
		}
	}
	return nil
}

func run(barrier bool) (right int, findings []trace.Finding, err error) {
	d, err := sim.Start(sim.Options{Checks: sim.AllChecks()})
	if err != nil {
		return 0, nil, err
	}
	defer d.Close()
	in := upTo(elements)
	with := map[bool]string{false: "0", true: "1"}[barrier]
	out, err := launch(d, device.Source{Name: "neighbours.cu", Text: neighbours, Defines: map[string]string{"WITH_BARRIER": with}}, "neighbours", in)
	if err != nil {
		return 0, nil, err
	}
	for i := range out {
		want := in[i]
		if i%64 > 0 {
			want += in[i-1]
		}
		if out[i] == want {
			right++
		}
	}
	r, err := d.Report()
	return right, r.Findings, err
}

// upTo are the numbers from 0 to below n.
func upTo(n int) []float32 {
	in := make([]float32, n)
	for i := range in {
		in[i] = float32(i)
	}
	return in
}

// launch runs a kernel with two blocks of 64 threads: from the numbers to as many others.
func launch(d device.Device, s device.Source, kernel string, in []float32) ([]float32, error) {
	m, err := d.Compile(s)
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel(kernel)
	if err != nil {
		return nil, err
	}
	x, err := device.Upload(d, "x", in)
	if err != nil {
		return nil, err
	}
	y, err := device.Alloc[float32](d, "y", len(in))
	if err != nil {
		return nil, err
	}
	if err := d.Launch(k, device.Launch{Grid: device.D1(2), Block: device.D1(64)}, x, y, len(in)); err != nil {
		return nil, err
	}
	return y.CopyOut(d)
}
