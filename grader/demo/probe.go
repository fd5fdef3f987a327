package demo

import (
	"errors"
	"fmt"

	"flashlab/device"
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

// Probe runs a kernel that works where the simulator does.
func Probe() (device.Info, error) {
	d, err := sim.Start(sim.Options{Checks: sim.AllChecks()})
	if err != nil {
		return device.Info{}, err
	}
	defer d.Close()
	in := upTo(elements)
	out, err := launch(d, device.Source{Name: "probe.cu", Text: probe}, "add", in)
	if err == nil && out[3] != in[3]+in[4] {
		err = fmt.Errorf("3 + 4 = %v", out[3])
	}
	if err != nil {
		return device.Info{}, fmt.Errorf("the simulator fails a simple kernel: %w", err)
	}
	r, err := d.Report()
	if err == nil && len(r.Findings) > 0 {
		err = errors.New("the simulator finds fault with a simple kernel:\n" + r.Findings[0].String())
	}
	return d.Info(), err
}
