// Package open picks a device, for programs that run on a GPU where there is
// one and in the simulator elsewhere.
package open

import (
	"errors"
	"fmt"

	"flashlab/device"
	"flashlab/device/cuda"
	"flashlab/device/sim"
)

// Options for either; only those of the device that is picked count.
type Options struct {
	Sim  sim.Options
	CUDA cuda.Options
}

// Device opens "sim", "cuda" or "auto": the GPU if this program was built for
// one and finds it, and the simulator otherwise. A GPU that is there but does
// not work is an error: to fall back silently would report the wrong machine.
// Options may be left out.
func Device(kind string, options ...Options) (device.Device, error) {
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	switch kind {
	case "sim":
		return simulator(o)
	case "cuda":
		return cuda.Open(o.CUDA)
	case "auto":
		d, err := cuda.Open(o.CUDA)
		if errors.Is(err, device.ErrNoDevice) {
			return simulator(o)
		}
		return d, err
	}
	return nil, fmt.Errorf("no device is called %q: want auto, sim or cuda", kind)
}

// simulator keeps a nil pointer from becoming an interface that is not nil.
func simulator(o Options) (device.Device, error) {
	d, err := sim.Start(o.Sim)
	if err != nil {
		return nil, err
	}
	return d, nil
}
