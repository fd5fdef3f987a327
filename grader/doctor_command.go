package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/device/sim"
)

const probe = `extern "C" __global__ void add(const float *x, float *y, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = x[i] + tile[(threadIdx.x + 1) % blockDim.x];
}
`

// doctorCommand shows that this machine can grade by doing it, in small.
func doctorCommand(args []string) (int, error) {
	f := flag.NewFlagSet("doctor", flag.ContinueOnError)
	quiet := f.Bool("quiet", false, "print nothing if all is well")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	say := func(format string, a ...any) {
		if !*quiet {
			fmt.Printf(format+"\n", a...)
		}
	}
	info, err := probeSimulator()
	if err != nil {
		return exitFailed, err
	}
	say("simulator: works; kernels are compiled by %s", info.ToolkitVersion)
	gpus, err := nvcc.GPUs()
	if err != nil {
		say("GPU:       none: %v", err)
		say("           (none is needed: all but speed is graded in the simulator)")
		return exitFull, nil
	}
	say("GPU:       %s", strings.Join(gpus, ", "))
	if tk, err := nvcc.Find(); err != nil {
		say("nvcc:      none, so the GPU is not used: %v", err)
	} else {
		say("nvcc:      %s (%s)", tk.Version, tk.Nvcc)
	}
	return exitFull, nil
}

func probeSimulator() (device.Info, error) {
	d, err := sim.Start(sim.Options{Checks: sim.AllChecks()})
	if err != nil {
		return device.Info{}, err
	}
	defer d.Close()
	const n = 100
	in := make([]float32, n)
	for i := range in {
		in[i] = float32(i)
	}
	if err := runProbe(d, in); err != nil {
		return device.Info{}, fmt.Errorf("the simulator fails a simple kernel: %w", err)
	}
	r, err := d.Report()
	if err == nil && len(r.Findings) > 0 {
		err = errors.New("the simulator finds fault with a simple kernel:\n" + r.Findings[0].String())
	}
	return d.Info(), err
}

func runProbe(d device.Device, in []float32) error {
	m, err := d.Compile(device.Source{Name: "probe.cu", Text: probe})
	if err != nil {
		return err
	}
	k, err := m.Kernel("add")
	if err != nil {
		return err
	}
	x, err := device.Upload(d, "x", in)
	if err != nil {
		return err
	}
	y, err := device.Alloc[float32](d, "y", len(in))
	if err != nil {
		return err
	}
	l := device.Launch{Grid: device.D1((len(in) + 63) / 64), Block: device.D1(64)}
	if err := d.Launch(k, l, x, y, len(in)); err != nil {
		return err
	}
	out, err := y.CopyOut(d)
	if err != nil {
		return err
	}
	if out[3] != in[3]+in[4] {
		return fmt.Errorf("3 + 4 = %v", out[3])
	}
	return nil
}
