package run

import (
	"flashlab/device"
	"flashlab/device/nvcc"
	"flashlab/grader/grading/supervise"
)

// GPUs are those of this machine, each of which serves one submission at a time.
type GPUs struct {
	free    chan nvcc.Card
	several bool
}

// NewGPUs has one place for each card; for fewer than two, one place, for whatever GPU there is.
func NewGPUs(cards []nvcc.Card) *GPUs {
	if len(cards) < 2 {
		cards = make([]nvcc.Card, 1)
	}
	g := &GPUs{free: make(chan nvcc.Card, len(cards)), several: len(cards) > 1}
	for _, c := range cards {
		g.free <- c
	}
	return g
}

// Take waits for a GPU that is free, and keeps others off it until it is released.
func (g *GPUs) Take() (c nvcc.Card, release func()) {
	c = <-g.free
	return c, func() { g.free <- c }
}

// alone waits for a GPU, if the pass needs one. Where there are several, its workers see only that one,
// and the device's name says which.
func (o Options) alone(p *pass, b supervise.Backend) (name string, release func()) {
	name = o.deviceName()
	if b.Kind() != device.CUDA || o.GPUs == nil {
		return name, func() {}
	}
	c, release := o.GPUs.Take()
	if o.GPUs.several {
		p.runEnv = c.Alone(p.runEnv)
		o.Devices.GPU = c.String()
		name = o.deviceName()
	}
	return name, release
}
